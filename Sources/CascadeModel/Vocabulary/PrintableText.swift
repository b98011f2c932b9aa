/// Texts from files, clients and rows, for a terminal, a log or a file that people read.
extension Unicode.Scalar {
  /// Whether a terminal or a log could obey it, or show the rest of the text as what it is not:
  /// control characters, line and paragraph separators, and what changes the direction of writing.
  package var isControlling: Bool {
    switch value {
    case 0...0x1F, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x206F: true
    default: false
    }
  }

  fileprivate var escape: String {
    switch self {
    case "\n": return "\\n"
    case "\r": return "\\r"
    case "\t": return "\\t"
    default:
      let digits = String(value, radix: 16)
      return "\\u" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
  }
}

extension String {
  package var hasControls: Bool { unicodeScalars.contains(where: \.isControlling) }

  /// For output: a text with controlling characters is written as in JSON.
  package var printable: String { hasControls ? JSON.string(self).text : self }

  /// The text with its controlling characters escaped as in JSON, where they may stand in strings only.
  package func escapingControls(keepingLines: Bool = false) -> String {
    func isEscaped(_ scalar: Unicode.Scalar) -> Bool {
      scalar.isControlling && !(keepingLines && (scalar == "\n" || scalar == "\t"))
    }
    if !unicodeScalars.contains(where: isEscaped) { return self }
    var text = ""
    for scalar in unicodeScalars {
      if isEscaped(scalar) {
        text += scalar.escape
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }
}
