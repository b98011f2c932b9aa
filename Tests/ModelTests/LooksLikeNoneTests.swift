import CascadeModel
import Testing

@Suite("Keys that applications write for \"none\"")
struct LooksLikeNoneTests {
  private static let zeros = String(repeating: "0", count: 32)
  private static let uuid = "00000000-0000-0000-0000-000000000000"

  @Test(
    "They are recognized",
    arguments: [
      "", "0", "-1", zeros, uuid, "{\(uuid)}", "\\x\(zeros)", String(repeating: "\0", count: 16),
    ])
  func none(text: String) { #expect(text.looksLikeNone) }

  @Test(
    "Others are not",
    arguments: [
      "00", "1", "-", "-2", "none", String(repeating: "0", count: 16), zeros.dropLast() + "1",
      zeros + "0",
    ])
  func others(text: String) { #expect(!text.looksLikeNone) }

  @Test("A key is asked by its text, and one of several parts never means none")
  func keys() {
    #expect(Key.integer(0).looksLikeNone && Key.integer(-1).looksLikeNone)
    #expect(!Key.integer(1).looksLikeNone)
    #expect(!Key.composite([.integer(0), .integer(0)]).looksLikeNone)
  }
}
