import PostgresSupport
import StoreDefinition
import Testing

@Suite("Types of objects on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct ObjectTypeTests {
  @Test("They mean what is claimed", arguments: ObjectTypes.Claim.allCases)
  func claim(_ claim: ObjectTypes.Claim) throws {
    try ObjectTypes(PostgresUnderTest()).expect(claim)
  }
}
