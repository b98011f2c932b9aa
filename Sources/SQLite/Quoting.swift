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
