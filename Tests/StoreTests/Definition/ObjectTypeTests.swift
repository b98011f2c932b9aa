import StoreDefinition
import StoreFixtures
import Testing

@Suite("Types of objects")
struct ObjectTypeTests {
  @Test("They mean what is claimed", arguments: ObjectTypes.Claim.allCases)
  func claim(_ claim: ObjectTypes.Claim) throws {
    try ObjectTypes(SQLiteUnderTest()).expect(claim)
  }
}
