/// The name of a directory entry. It consists of bytes, which need not be UTF-8, and is compared
/// byte by byte.
package struct FileName: Hashable, Comparable, Sendable, CustomStringConvertible,
  ExpressibleByStringInterpolation
{
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
  package init(_ text: String) { bytes = Array(text.utf8) }
  package init(stringLiteral text: String) { self.init(text) }

  /// For display. In a name that is not UTF-8, a byte that is not ASCII is written as \xNN, and a
  /// backslash is doubled. So two such names never look the same.
  package var description: String {
    if let text = String(validating: bytes, as: UTF8.self) { return text }
    return bytes.map { byte in
      if byte >= 0x80 { return "\\x" + String(byte, radix: 16) }
      return byte == UInt8(ascii: "\\") ? "\\\\" : String(UnicodeScalar(byte))
    }.joined()
  }

  package var isHidden: Bool { bytes.first == UInt8(ascii: ".") }

  /// Whether this can name one entry of a directory, and not a path to another directory.
  package var isValid: Bool {
    !bytes.isEmpty && self != "." && self != ".." && !bytes.contains(0)
      && !bytes.contains(UInt8(ascii: "/"))
  }

  package func hasSuffix(_ suffix: String) -> Bool {
    bytes.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
  }

  package static func < (left: FileName, right: FileName) -> Bool {
    left.bytes.lexicographicallyPrecedes(right.bytes)
  }

  package static func + (name: FileName, suffix: String) -> FileName {
    FileName(bytes: name.bytes + suffix.utf8)
  }

  var cString: [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
}
