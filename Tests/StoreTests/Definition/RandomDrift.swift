import StoreDefinition
import StoreFixtures
import Testing

@Suite struct RandomDrift {
  @Test(
    "Schemas drift between what is deleted and what comes back", arguments: 0..<DriftHistories.parts
  )
  func compare(part: UInt64) throws { try DriftHistories(SQLiteUnderTest()).compare(part) }
}
