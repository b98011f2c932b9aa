import CascadeEngine
import Testing

/// Columns are words, in their order.
@Suite("Columns of a table before and after a change")
struct FollowedColumnTests {
  private func follow(
    _ before: String, _ after: String, _ change: FollowedColumns.Change = .altered(by: 2)
  ) -> String {
    func columns(_ text: String) -> [FollowedColumns.Column] {
      text.split(separator: " ").map { FollowedColumns.Column(name: String($0), type: "text") }
    }
    let (old, new) = (columns(before), columns(after))
    let places = FollowedColumns(from: old, to: new, change).places
    return zip(old, places).map { "\($0.name)=\($1.map { new[$0].name } ?? "?")" }
      .joined(separator: " ")
  }

  @Test("Added at the end, and dropped, are what they seem")
  func plain() {
    #expect(follow("a b", "a b c") == "a=a b=b")
    #expect(follow("a b c", "a c") == "a=a b=? c=c")
    #expect(follow("a b c", "a c d e") == "a=a b=? c=c")
    #expect(follow("a b", "A B") == "a=A b=B")
  }

  @Test("One statement that changes one name has renamed the column")
  func renamed() {
    #expect(follow("a b c", "a x c", .altered(by: 1)) == "a=a b=x c=c")
    #expect(follow("a b", "a x", .altered(by: 1)) == "a=a b=x")
  }

  @Test("After several statements a new name may be that of another column")
  func unknown() {
    #expect(follow("a b", "a x") == "a=a b=?")
    #expect(follow("a b c", "a x c") == "a=a b=? c=?")
  }

  @Test("Of names that changed places none is known any more, whatever their number is")
  func moved() {
    for change: FollowedColumns.Change in [.altered(by: 1), .altered(by: 3)] {
      #expect(follow("a b c", "a c b", change) == "a=a b=? c=?")
      #expect(follow("a b c d", "a c d b", change) == "a=a b=? c=? d=?")
      #expect(follow("a b c", "a x b", change) == "a=a b=? c=?")
    }
  }

  @Test("In a table that was made anew names decide, in any order")
  func madeAnew() {
    #expect(follow("a b c", "c x a", .madeAnew) == "a=a b=? c=c")
  }
}
