internal import CascadeSQLite

/// The path to a member of the JSON text `value`, as SQL. SQLite compares the names in a path with
/// the names in the text as they are written. If the text has escapes and the member is not found,
/// it is looked up by its decoded name.
package func memberPath(_ path: String, in value: String) -> String {
  let parts = path.split(separator: "\"", omittingEmptySubsequences: false)
  let names = parts.indices.filter { $0 % 2 == 1 }.map { String(parts[$0]) }
  if names.isEmpty { return literal(path) }
  let found = names.reduce(literal("$")) { way, name in
    """
    (SELECT n.fullkey FROM json_each(\(value), \(way)) AS n WHERE n.key = \(literal(name)) LIMIT 1)
    """
  }
  return #"""
    iif(instr(\#(value), '\') AND json_valid(\#(value))
      AND json_type(\#(value), \#(literal(path))) IS NULL, \#(found), \#(literal(path)))
    """#
}
