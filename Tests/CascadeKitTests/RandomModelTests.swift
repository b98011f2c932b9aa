import CascadeKit
import CascadeModel
import CascadeSystem
import TestSupport
import Testing

/// Random declarations, as types and as the text that one would write, are the same model.
@Suite struct RandomModelTests {
  @Test func randomDeclarationsAreTheModelThatOneWouldWrite() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<(isLong ? 2_000 : 200) {
      let declarations = Declaration.random(&random)
      let model = try StoreModel(json5: Array(file(declarations).text.utf8))
      let written = try StoreModel(json5: Array(text(declarations).utf8))
      #expect(model.changes(since: written) == [], "\(text(declarations))")
    }
  }

  @Test func aChangedRuleIsFound() throws {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<(isLong ? 500 : 50) {
      var declarations = Declaration.random(&random)
      let before = try StoreModel(json5: Array(file(declarations).text.utf8))
      let index = Int.random(in: 0..<declarations.count, using: &random)
      declarations[index].rules.formSymmetricDifference(.notifyIfSourceDeleted)
      let changes = try StoreModel(json5: Array(file(declarations).text.utf8))
        .changes(since: before)
      #expect(
        changes == [
          "relationship \(declarations[index].source).\(declarations[index].name) changed"
        ])
    }
  }

  @Test func theDaemonAcceptsRandomModels() throws {
    var random = SystemRandomNumberGenerator()
    let scratch = try Scratch()
    try sqlite3(
      scratch.path("store.db"),
      """
      CREATE TABLE here(id TEXT PRIMARY KEY, other TEXT, must TEXT);
      CREATE TABLE there(id TEXT PRIMARY KEY);
      CREATE TABLE pair(here TEXT, there TEXT);
      """)
    for number in 0..<(isLong ? 50 : 5) {
      let name = "\(number).json"
      try scratch.write(FileName(name), file(Declaration.random(&random)).text)
      try run(
        program("cascaded"),
        ["--check-config", "--model", scratch.path(name), scratch.path("store.db")])
    }
  }

  private func file(_ declarations: [Declaration]) -> ModelFile {
    ModelFile {
      Here.self
      There.self
      Thing.self
      for declaration in declarations { declaration.declared }
    }
  }

  private func text(_ declarations: [Declaration]) -> String {
    """
    { collections: { heres: { table: "here", key: "id" }, theres: { table: "there", key: "id" },
        things: {} },
      relationships: [\(declarations.map(\.text).joined(separator: ",\n"))] }
    """
  }
}

@Model("heres", table: "here") private struct Here {
  let id: ID<Here>
  var other: ID<There>?
  var must: ID<There>
}

@Model("theres", table: "there") private struct There {
  let id: ID<There>
}

@Model("things") private struct Thing {
  let id: ID<Thing>
  var others: [ID<There>]
  var one: ID<Thing>?
}

/// What a relationship says.
private struct Declaration {
  enum Place: CaseIterable { case optional, mandatory, join, list, object, stored }

  let place: Place
  let name: String
  var rules: CascadeKit.Rules
  let isUnique: Bool
  let max: Int?
  let inverse: String?

  var source: String {
    switch place {
    case .optional, .mandatory, .join: "heres"
    case .list, .object, .stored: "things"
    }
  }

  /// At least one, each in another place.
  static func random(_ random: inout SystemRandomNumberGenerator) -> [Declaration] {
    let places = Place.allCases.shuffled(using: &random)
    return places.prefix(.random(in: 1...places.count, using: &random)).enumerated().map {
      Declaration(
        place: $1, name: "r\($0)", rules: rules($1, &random), isUnique: .random(using: &random),
        max: Bool.random(using: &random) ? .random(in: 1...9, using: &random) : nil,
        inverse: Bool.random(using: &random) ? "inverse\($0)" : nil)
    }
  }

  /// One answer at most to the end of each side.
  private static func rules(
    _ place: Place, _ random: inout SystemRandomNumberGenerator
  ) -> CascadeKit.Rules {
    var forSource: [CascadeKit.Rules] = [
      [], .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
      .denyDestinationDeletion,
    ]
    if place != .mandatory && place != .stored {
      forSource.append(.nullifySourceIfDestinationDeleted)
    }
    let forDestination: [CascadeKit.Rules] = [
      [], .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
      .denySourceDeletion,
    ]
    let notices: [CascadeKit.Rules] = [
      [], .notifyIfSourceDeleted, .notifyIfDestinationDeleted,
      [.notifyIfSourceDeleted, .notifyIfDestinationDeleted],
    ]
    return [forSource, forDestination, notices].reduce(into: []) {
      $0.formUnion($1.randomElement(using: &random)!)
    }
  }

  var declared: any Declared {
    switch place {
    case .optional:
      Here.Relationship<There?>(\.other, name, rules: rules, unique: isUnique, inverse: inverse)
    case .mandatory:
      Here.Relationship<There>(\.must, name, rules: rules, unique: isUnique, inverse: inverse)
    case .join:
      Here.Relationship<[There]>(
        name, join: Join("pair", source: "here", destination: "there"), rules: rules, max: max,
        inverse: inverse)
    case .list:
      Thing.Relationship<[There]>(
        \.others, name, rules: rules, unique: isUnique, max: max, inverse: inverse)
    case .object:
      Thing.Relationship<Thing?>(\.one, name, rules: rules, unique: isUnique, inverse: inverse)
    case .stored: Thing.Relationship<[There]>(name, rules: rules, max: max, inverse: inverse)
    }
  }

  var text: String {
    let to = place == .object ? "things" : "theres"
    var parts = ["name: '\(name)', from: '\(source)', to: '\(to)'"]
    switch place {
    case .optional: parts.append("column: 'other'")
    case .mandatory: parts.append("column: 'must', optional: false")
    case .join: parts.append("join: { table: 'pair', source: 'here', destination: 'there' }")
    case .list: parts.append("property: 'others'")
    case .object: parts.append("property: 'one'")
    case .stored: break
    }
    let isList = [.join, .list, .stored].contains(place)
    if isList { parts.append("toMany: true") }
    if isList, let max { parts.append("max: \(max)") }
    if isUnique && place != .join && place != .stored { parts.append("unique: true") }
    if rules != [] {
      parts.append("rules: [\(rules.names.map { "'\($0)'" }.joined(separator: ", "))]")
    }
    if let inverse { parts.append("inverse: { name: '\(inverse)' }") }
    return "{ \(parts.joined(separator: ", ")) }"
  }
}
