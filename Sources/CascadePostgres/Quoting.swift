/// A name as an SQL identifier, whatever characters it has.
package func quoted(_ identifier: String) -> String { enclosed(identifier, in: "\"") }

/// A text literal, for statements that store it: functions and triggers. A backslash means itself,
/// because `standard_conforming_strings` is on in every session.
package func literal(_ text: String) -> String { enclosed(text, in: "'") }

/// The elements of an array, as the text of one value.
package func arrayText(_ elements: [String]) -> String {
  let (mark, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
  var text: [UInt8] = [UInt8(ascii: "{")]
  for element in elements {
    if text.count > 1 { text.append(UInt8(ascii: ",")) }
    text.append(mark)
    for byte in element.utf8 {
      if byte == mark || byte == backslash { text.append(backslash) }
      text.append(byte)
    }
    text.append(mark)
  }
  return String(decoding: text + [UInt8(ascii: "}")], as: UTF8.self)
}

/// The elements of an array of integers, from its text.
package func integers(ofArray text: String) -> [Int64] {
  text.dropFirst().dropLast().split(separator: ",").compactMap { Int64($0) }
}

private func enclosed(_ text: String, in mark: Unicode.Scalar) -> String {
  var enclosed = String.UnicodeScalarView([mark])
  for scalar in text.unicodeScalars {
    if scalar == mark { enclosed.append(mark) }
    enclosed.append(scalar)
  }
  enclosed.append(mark)
  return String(enclosed)
}
