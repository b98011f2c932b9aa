/// A name as an SQL identifier, whatever characters it has.
package func quoted(_ identifier: String) -> String { enclosed(identifier, in: "\"") }

/// A text literal, for statements that store it: functions and triggers. A backslash means itself,
/// because `standard_conforming_strings` is on in every session.
package func literal(_ text: String) -> String { enclosed(text, in: "'") }

/// The elements of an array, as the text of one value.
package func arrayText(_ elements: [String]) -> String {
  let parts = elements.map { element in
    var part = "\""
    for scalar in element.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { part.unicodeScalars.append("\\") }
      part.unicodeScalars.append(scalar)
    }
    return part + "\""
  }
  return "{\(parts.joined(separator: ","))}"
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
