import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "What is remembered on PostgreSQL, by change of the schema",
  .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct SchemaChangeTests {
  @Test(
    "It is as the guides say", arguments: SchemaChanges.Change.allCases,
    SchemaChanges.Thing.allCases)
  func thing(_ change: SchemaChanges.Change, _ thing: SchemaChanges.Thing) throws {
    try SchemaChanges(PostgresUnderTest()).expect(change, thing)
  }
}
