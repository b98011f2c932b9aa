/// An application's name as an SQL identifier, whatever characters it has. It must be qualified
/// with a table: SQLite takes an unqualified quoted name that it does not know for a text.
package func quoted(_ identifier: String) -> String { enclosed(identifier, in: "\"") }

/// An SQL string literal, for statements that store it: triggers and views.
package func literal(_ text: String) -> String { enclosed(text, in: "'") }

extension String {
  /// Whether the text contains the word. The standard library's own search would link its regular
  /// expressions into the programs, more than a megabyte.
  package func mentions(_ word: String) -> Bool {
    indices.contains { self[$0...].hasPrefix(word) }
  }
}

private func enclosed(_ text: String, in mark: Unicode.Scalar) -> String {
  // Texts of statements are made for each level of a cascade, and few names have the mark.
  if !text.utf8.contains(UInt8(mark.value)) { return "\(mark)\(text)\(mark)" }
  var enclosed = String.UnicodeScalarView([mark])
  for scalar in text.unicodeScalars {
    if scalar == mark { enclosed.append(mark) }
    enclosed.append(scalar)
  }
  enclosed.append(mark)
  return String(enclosed)
}
