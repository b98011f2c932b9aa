import PostgresSupport
import StoreDefinition
import Testing

@Suite(
  "Schemas that drift on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct RandomDrift {
  @Test(
    "Schemas drift between what is deleted and what comes back", arguments: 0..<DriftHistories.parts
  )
  func compare(part: UInt64) throws { try DriftHistories(PostgresUnderTest()).compare(part) }
}
