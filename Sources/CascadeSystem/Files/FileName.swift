/// The name of a directory entry. It consists of bytes, which need not be UTF-8, and is compared
/// byte by byte.
package struct FileName: Hashable, Comparable, Sendable, CustomStringConvertible,
  ExpressibleByStringInterpolation
{
  package let bytes: [UInt8]

  package init(bytes: [UInt8]) { self.bytes = bytes }
  package init(_ text: String) { bytes = Array(text.utf8) }
  package init(stringLiteral text: String) { self.init(text) }

  /// For display. Bytes that are not UTF-8 are replaced, so two names may look the same.
  package var description: String { String(decoding: bytes, as: UTF8.self) }

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
