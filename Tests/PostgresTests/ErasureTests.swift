import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

@Suite("Erasures, on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ErasureTests {
  @Test("Nothing is left", arguments: Erasures.Claim.allCases)
  func claim(_ claim: Erasures.Claim) throws {
    try Erasures(PostgresUnderTest()).expect(claim)
  }

  @Test("Columns that nothing covers, and that seem to refer to what goes, are found")
  func evidence() throws {
    let store = try Music.store()
    try store.bySQL(
      """
      CREATE TABLE visit(id int PRIMARY KEY, artist_id text, artistid bigint, other text);
      CREATE TABLE prize(id int PRIMARY KEY, who text REFERENCES artist(id));
      """)
    let scope = try store.reader.erasureScope()
    let found = scope.uncovered(
      of: try store.reader.evidence(), deletingFrom: ["artists"], accepted: ["public.visit.other"])
    #expect(
      found.map { "\($0.table).\($0.columns[0])" } == [
        "public.prize.who", "public.visit.artist_id",
      ])
    let rest = scope.uncovered(
      of: try store.reader.evidence(), deletingFrom: ["artists", "songs"],
      accepted: ["visit.artist_id", "public.prize.who"])
    #expect(rest.isEmpty)
    #expect(store.reader.traces(of: ["anna"]) == [])
  }
}
