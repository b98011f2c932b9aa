import CascadeModel
import Testing

@Suite struct SQLExpressionTests {
  /// The condition with a number for each variable, and the variables.
  private func numbered(_ condition: String) throws -> (text: String, variables: [String]) {
    let json = JSON.string(condition).text
    let model = try readModel(
      """
      { collections: { a: { fetched: { f: { from: "a", where: \(json), settings: { k: 1 } } } } } }
      """)
    let expression = try #require(model.fetched["a"]?["f"]).expressions().condition
    var number = 0
    let text = expression.text { _ in
      number += 1
      return "?\(number)"
    }
    return (text, expression.variables.map { "\($0.base).\($0.member ?? "")" })
  }

  @Test(arguments: [
    ("1", "1", []),
    ("$source.id", "?1", ["source.id"]),
    ("a=$source.id+$property.k", "a=?1+?2", ["source.id", "property.k"]),
    ("$source.a = $source.a OR x", "?1 = ?2 OR x", ["source.a", "source.a"]),
    ("($source._a9)", "(?1)", ["source._a9"]),
    ("é = $source.größe AND ü", "é = ?1 AND ü", ["source.größe"]),
    ("a = $source.cafe\u{301}\r\nAND b", "a = ?1\r\nAND b", ["source.cafe\u{301}"]),
  ])
  func `a variable is found where it is`(
    condition: String, text: String, variables: [String]
  ) throws {
    let found = try numbered(condition)
    #expect(found.text == text)
    #expect(found.variables == variables)
  }

  @Test(arguments: [
    "x = '$source.id'", "x = 'it''s $source.id'", "\"$source.id\" = 1", "[$source.id]",
    "`$source.id` || x->>'$.a.b'", "x = '-- $source.id' AND y = '/* $source.id */'",
  ])
  func `what is in quotes is no variable`(condition: String) throws {
    let found = try numbered(condition)
    #expect(found.text == condition)
    #expect(found.variables == [])
  }
}
