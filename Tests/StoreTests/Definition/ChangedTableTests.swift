import CascadeSystem
import StoreDefinition
import StoreFixtures
import Testing

@Suite("Tables that have changed since a batch")
struct ChangedTableTests {
  @Test("An undo puts each value where it was", arguments: ChangedTables.Claim.allCases)
  func claim(_ claim: ChangedTables.Claim) throws {
    try ChangedTables(SQLiteUnderTest()).expect(claim)
  }

  @Test("The guide says what is claimed here, line by line")
  func guide() throws {
    let root = #filePath.firstRange(of: "/Tests/").map { #filePath[..<$0.lowerBound] } ?? ""
    let path = "\(root)/deploy/guides/undo-and-leases.md"
    let bytes = try FileDescriptor.open(path).readWhole(limit: 1 << 20) ?? []
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    for claim in ChangedTables.Claim.allCases {
      #expect(lines.contains("- \(claim.rawValue)."))
    }
  }
}
