import StoreDefinition
import StoreFixtures
import Testing

@Suite("Protections")
struct ProtectionTests {
  @Test("Nodes are kept from every deletion", arguments: Protections.Claim.allCases)
  func claim(_ claim: Protections.Claim) throws { try Protections(SQLiteUnderTest()).expect(claim) }
}
