extension StringProtocol {
  /// Whether it is the text of a key that applications write where SQL has NULL: 0, -1, nothing, and a
  /// UUID of zeros in any spelling, or its bytes.
  package var looksLikeNone: Bool {
    switch utf8.count {
    case 0...2: return ["", "0", "-1"].contains { $0 == self }
    case 16: return utf8.allSatisfy { $0 == 0 }
    case 32...38:
      let others = utf8.filter { $0 != UInt8(ascii: "0") }
      return utf8.count - others.count == 32 && others.allSatisfy("-{}\\x".utf8.contains)
    default: return false
    }
  }
}

extension Key {
  package var looksLikeNone: Bool { managedText?.looksLikeNone ?? false }
}
