/// A collection of rows that the model no longer has, though stored edges name its rows.
package enum MissingCollection {
  package static func message(_ name: String) -> String {
    "\"\(name)\" was a table, to whose rows stored edges refer, and the model no longer has it: "
      + "restore it in the model, and unlink these edges before you remove it"
  }
}
