/// A name of the application's as SQL writes it, whatever is in it. Qualify what it names with a
/// table: alone, SQLite takes a quoted name that it does not know for a text.
package func quoted(_ identifier: String) -> String {
  var text = "\""
  for scalar in identifier.unicodeScalars {
    if scalar == "\"" { text.unicodeScalars.append(scalar) }
    text.unicodeScalars.append(scalar)
  }
  return text + "\""
}

/// A text as SQL writes it, for statements that keep it: triggers and views.
package func literal(_ text: String) -> String {
  var literal = "'"
  for scalar in text.unicodeScalars {
    if scalar == "'" { literal.unicodeScalars.append(scalar) }
    literal.unicodeScalars.append(scalar)
  }
  return literal + "'"
}
