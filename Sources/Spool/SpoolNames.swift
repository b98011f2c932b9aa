internal import CascadeModel
internal import CascadeSystem

/// Names that the spool makes from names of change files, which may have the maximum length.
extension FileName {
  private static let longest = 255
  private static let reasonsSuffix = ".reason.json"

  var isOfReasons: Bool {
    bytes.suffix(FileName.reasonsSuffix.utf8.count).elementsEqual(FileName.reasonsSuffix.utf8)
  }

  /// `NAME.reason.json`. If that is too long, a fingerprint replaces the end of the name, so that
  /// two long names with the same beginning differ.
  var withReasonsSuffix: FileName {
    let room = FileName.longest - FileName.reasonsSuffix.utf8.count
    if bytes.count <= room { return self + FileName.reasonsSuffix }
    let mark = "~" + String(Fingerprint(bytes).value, radix: 16)
    return FileName(bytes: Array(bytes.prefix(room - mark.utf8.count)))
      + mark + FileName.reasonsSuffix
  }

  /// Whether `numbered` made this name from that one.
  func isNumbered(from name: FileName) -> Bool {
    (1...1_000).contains { name.numbered($0) == self }
  }

  /// `x.json` becomes `x.1.json`. The ending stays, because it tells how the file is read.
  func numbered(_ number: Int) -> FileName {
    let dot = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.count
    let ending = Array(".\(number)".utf8) + bytes[dot...].prefix(16)
    var length = min(dot, FileName.longest - ending.count)
    // Do not cut a UTF-8 character in two.
    while length < dot && length > 0 && bytes[length] & 0xC0 == 0x80 { length -= 1 }
    return FileName(bytes: Array(bytes[..<length]) + ending)
  }
}
