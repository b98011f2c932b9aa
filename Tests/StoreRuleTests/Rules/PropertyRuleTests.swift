import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

/// Every rule means the same of an edge in a property as of a stored one.
@Suite("Rules of properties")
struct PropertyRuleTests {
  enum Place: String, CaseIterable, CustomTestStringConvertible {
    case scalar = "property: 'p'"
    case list = "property: 'p', toMany: true"
    case deep = "property: 'in.p'"
    case polymorphic = "column: 'p', typeColumn: 't', to: { N: 'n' }"

    var testDescription: String { rawValue }

    func value(_ reference: String?) -> String {
      let reference = reference.map { "\"\($0)\"" }
      switch self {
      case .scalar: return "{\"p\":\(reference ?? "null")}"
      case .list: return "{\"p\":[\(reference ?? "")]}"
      case .deep: return "{\"in\":{\"p\":\(reference ?? "null")}}"
      case .polymorphic:
        return "{\"t\":\(reference == nil ? "null" : "\"N\""),\"p\":\(reference ?? "null")}"
      }
    }
  }

  /// Every place with each pair of rules of the two ends, and all four ways to be told of them in turn;
  /// in long runs, every place with all rules.
  static let cases = RuleTests.legal.enumerated().flatMap { index, rules in
    let places = Place.allCases
    let place = places[(index + index / 4) % places.count]
    return (Histories.isLong ? places : [place]).map { ($0, rules) }
  }

  private func store(_ place: Place, _ rules: Rules) throws -> TestStore {
    let store = try TestStore("\(place.rawValue), rules: \(rules.list)")
    try store.apply([put("A", place.value("B")), put("B")])
    #expect(try store.graph() == "A=\(rules.rawValue)>B")
    return store
  }

  @Test(
    "The source's deletion takes the destination by 8 and 32, and 256 refuses it", arguments: cases)
  func sourceGoes(place: Place, rules: Rules) throws {
    let store = try store(place, rules)
    if rules.contains(256) { return #expect(try store.refusals("!A") == ["denied A"]) }
    let follows = !rules.isDisjoint(with: [8, 32])
    let receipt = try store.run("!A")
    #expect(receipt.deleted.letters == (follows ? "A B" : "A"))
    #expect(receipt.notices == (rules.contains(1) && !follows ? 1 : 0))
    #expect(try store.graph() == "")
  }

  @Test(
    "The destination's takes the source by 4 and 16, 128 refuses it, 64 nullifies",
    arguments: cases)
  func destinationGoes(place: Place, rules: Rules) throws {
    let store = try store(place, rules)
    if rules.contains(128) { return #expect(try store.refusals("!B") == ["denied B"]) }
    let follows = !rules.isDisjoint(with: [4, 16])
    let receipt = try store.run("!B")
    #expect(receipt.deleted.letters == (follows ? "A B" : "B"))
    #expect(receipt.notices == (rules.contains(2) && !follows ? 1 : 0))
    #expect(try store.graph() == "")
    if follows { return }
    // Without rule 64 the reference is left as it is, dangling.
    #expect(try store.value("A") == place.value(rules.contains(64) ? nil : "B"))
  }

  @Test("A reference that is dropped is judged by its rules as a lost source", arguments: cases)
  func dropped(place: Place, rules: Rules) throws {
    let store = try store(place, rules)
    let receipt = try store.apply([put("A", place.value(nil))])
    let follows = !rules.isDisjoint(with: [8, 32])
    #expect(receipt.deleted.letters == (follows ? "B" : ""))
    #expect(receipt.notices == (rules.contains(1) && !follows ? 1 : 0))
    #expect(try store.graph() == "")
  }

  @Test("Beside another source only 8 takes the destination", arguments: cases)
  func secondSource(place: Place, rules: Rules) throws {
    if rules.contains(256) { return }
    let store = try store(place, rules)
    try store.run("C{0>B}")
    #expect(try store.gone("!A") == (rules.contains(8) ? "A B" : "A"))
  }

  @Test(
    "Beside another destination only 4 takes the source",
    arguments: RuleTests.legal.filter { $0.isDisjoint(with: [8, 32, 128, 256]) })
  func secondDestination(rules: Rules) throws {
    let store = try store(.list, rules)
    try store.apply([put("C"), put("A", #"{"p":["B","C"]}"#)])
    #expect(try store.gone("!B") == (rules.contains(4) ? "A B" : "B"))
    if rules.contains(4) { return }
    #expect(try store.value("A") == (rules.contains(64) ? #"{"p":["C"]}"# : #"{"p":["B","C"]}"#))
  }

  @Test("A destination that nobody puts is judged like one that goes", arguments: cases)
  func neverThere(place: Place, rules: Rules) throws {
    let store = try TestStore("\(place.rawValue), rules: \(rules.list)")
    let receipt = try store.apply([put("A", place.value("B"))])
    let follows = !rules.isDisjoint(with: [4, 16])
    #expect(try store.alive() == (follows ? "" : "A"))
    #expect(receipt.notices == (rules.contains(2) && !follows ? 1 : 0))
    if follows { return }
    #expect(try store.value("A") == place.value(rules.contains(64) ? nil : "B"))
  }
}
