internal import CascadeModel
internal import CascadeSystem
/// Names that the spool makes from those of change files, which may be as long as a name can be.
extension FileName {
  private static let longest = 255
  private static let reasonsSuffix = ".reason.json"

  var isOfReasons: Bool {
    bytes.suffix(FileName.reasonsSuffix.utf8.count).elementsEqual(FileName.reasonsSuffix.utf8)
  }

  /// `NAME.reason.json`. Where there is no room, a fingerprint stands for the end of the name: two
  /// long names that begin alike have reasons of their own.
  var withReasonsSuffix: FileName {
    let room = FileName.longest - FileName.reasonsSuffix.utf8.count
    if bytes.count <= room { return self + FileName.reasonsSuffix }
    let mark = "~" + String(Fingerprint(bytes).value, radix: 16)
    return FileName(bytes: Array(bytes.prefix(room - mark.utf8.count)))
      + mark + FileName.reasonsSuffix
  }

  /// Whether `numbered` made it of that.
  func isNumbered(from name: FileName) -> Bool {
    (1...1_000).contains { name.numbered($0) == self }
  }

  /// `x.json` becomes `x.1.json`: the ending says how the file is to be read.
  func numbered(_ number: Int) -> FileName {
    let dot = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.count
    let ending = Array(".\(number)".utf8) + bytes[dot...].prefix(16)
    var length = min(dot, FileName.longest - ending.count)
    // A character is not cut in two.
    while length < dot && length > 0 && bytes[length] & 0xC0 == 0x80 { length -= 1 }
    return FileName(bytes: Array(bytes[..<length]) + ending)
  }
}
