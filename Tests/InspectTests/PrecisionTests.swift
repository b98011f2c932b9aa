import CascadeInspect
import CascadeSQLite
import Testing

/// Foreign keys are hidden from `inspect`, and compared with what it finds by names and values.
@Suite struct PrecisionTests {
  private struct Link: Hashable, CustomStringConvertible {
    let from: String
    let columns: [String: String]
    let to: String

    var description: String {
      "\(from).\(columns.keys.sorted().joined(separator: ",")) -> \(to)"
    }
  }

  @Test func findsWhatTheSchemaHidesAndLittleElse() throws {
    var (declared, found, likely) = (0, 0, 0)
    for application in Application.allCases {
      let truth = try PrecisionTests.declared(application)
      let guesses = try PrecisionTests.likely(application)
      let missed = truth.subtracting(guesses)
      let wrong = guesses.subtracting(truth)
      print(
        "\(application.rawValue): \(truth.count) declared, \(truth.count - missed.count) found, "
          + "\(wrong.count) wrong; missed \(missed.map(\.description).sorted()), "
          + "wrong \(wrong.map(\.description).sorted())")
      declared += truth.count
      found += truth.count - missed.count
      likely += guesses.count
    }
    let wrong = likely - found
    print("\(found) of \(declared) relationships found; \(wrong) of \(likely) likely ones wrong")
    #expect(found * 100 >= declared * 85)
    #expect(wrong * 100 <= likely * 5)
  }

  private static func declared(_ application: Application) throws -> Set<Link> {
    try links(TestDatabase(application.sql).inspect()) { $0.found == .foreignKey }
  }

  private static func likely(_ application: Application) throws -> Set<Link> {
    let inspection = try TestDatabase(application.sqlWithoutKeys).inspect()
    #expect(!inspection.relationships.contains { $0.found == .foreignKey })
    return links(inspection) { $0.isLikely && ![.join, .path].contains($0.found) }
  }

  private static func links(
    _ inspection: Inspection, _ isWanted: (InspectedRelationship) -> Bool
  ) -> Set<Link> {
    Set(
      inspection.relationships.filter(isWanted).map {
        Link(
          from: $0.from, columns: Dictionary(uniqueKeysWithValues: zip($0.columns, $0.toColumns)),
          to: $0.to)
      })
  }
}
