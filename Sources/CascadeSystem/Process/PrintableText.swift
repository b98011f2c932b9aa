extension String {
  /// For a log or a terminal, which would obey control characters: they are written as in JSON.
  package func escapingControls(keepingLines: Bool = false) -> String {
    func isEscaped(_ scalar: UnicodeScalar) -> Bool {
      if scalar.properties.generalCategory != .control { return false }
      return !(keepingLines && (scalar == "\n" || scalar == "\t"))
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

extension UnicodeScalar {
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
