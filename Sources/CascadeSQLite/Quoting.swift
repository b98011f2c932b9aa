/// A name of the application's as SQL writes it, whatever is in it. Qualify what it names with a
/// table: alone, SQLite takes a quoted name that it does not know for a text.
package func quoted(_ identifier: String) -> String { enclosed(identifier, in: "\"") }

/// A text as SQL writes it, for statements that keep it: triggers and views.
package func literal(_ text: String) -> String { enclosed(text, in: "'") }

extension String {
  /// The standard library's own search would bring its regular expressions into the programs: more than
  /// a megabyte.
  package func mentions(_ word: String) -> Bool {
    indices.contains { self[$0...].hasPrefix(word) }
  }
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
