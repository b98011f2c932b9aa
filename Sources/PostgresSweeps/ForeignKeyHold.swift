internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import PostgresBinding
package import PostgresTables

/// A foreign key that no relationship of the model covers: what it would delete, change or refuse, no rule
/// tells.
struct ForeignKeyHold {
  let parent: MappedTable
  /// The table that refers, by its name and as a table of the model, if it is one.
  let child: (name: String, table: MappedTable?)
  let columns: [String]
  let referred: [String]
  /// Whether it refuses the deletion.
  let refuses: Bool

  var reason: String {
    let held = DenialText.held(byRowOf: child.name, columns)
    return refuses ? held : "\(held), and would go or change with it: no relationship covers that"
  }

  /// Whether a row that stays refers to the node `g` of the closure.
  func holds(_ closure: Closure) -> String {
    let pairs = zip(columns, referred).map { "h.\(quoted($0)) = p.\(quoted($1))" }
    let stays = child.table.map { closure.stays($0, "h") } ?? "true"
    return """
      EXISTS (SELECT FROM \(parent.name) p JOIN \(child.name) h ON \(pairs.joined(separator: " AND "))
        WHERE \(parent.key.equal("p", text: "g.key")) AND \(stays))
      """
  }

  // MARK: - In the catalog

  static func all(
    of parent: MappedTable, _ binding: Binding, _ db: borrowing Session
  ) throws -> [ForeignKeyHold] {
    if parent.isManaged { return [] }
    return try keys(to: parent, db).compactMap { child, columns, referred, action in
      let table = binding.tables.values.first { $0.name == child }
      let isCovered = binding.relations(to: parent).contains { relation in
        let names = relation.columns?.all.map(\.name) ?? []
        return relation.holder?.name == child && names == columns.map { quoted($0) }
          && !relation.rules.isDisjoint(with: .ofLostDestination)
      }
      if isCovered { return nil }
      return ForeignKeyHold(
        parent: parent, child: (child, table), columns: columns, referred: referred,
        refuses: ["a", "r"].contains(action))
    }
  }

  private static func keys(
    to parent: MappedTable, _ db: borrowing Session
  ) throws -> [(child: String, columns: [String], referred: [String], action: String)] {
    try db.run(
      """
      SELECT \(name("conrelid")), \(columns("conrelid", "conkey")), \(columns("confrelid", "confkey")),
        confdeltype FROM pg_constraint
      WHERE contype = 'f' AND confrelid = $1::regclass AND conparentid = 0 ORDER BY conname
      """, [parent.name]
    ).rows.map { ($0[0]!, try names($0[1]!), try names($0[2]!), $0[3]!) }
  }

  private static func names(_ json: String) throws -> [String] {
    try JSON.parse(json).array?.compactMap(\.string) ?? []
  }

  fileprivate static func name(_ relation: String) -> String {
    """
    (SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace WHERE c.oid = \(relation))
    """
  }

  private static func columns(_ relation: String, _ numbers: String) -> String {
    """
    (SELECT json_agg(a.attname ORDER BY k.place) FROM unnest(\(numbers)) WITH ORDINALITY k(number, place)
      JOIN pg_attribute a ON a.attrelid = \(relation) AND a.attnum = k.number)
    """
  }
}

/// Which tables refer to which others by foreign keys.
package struct ForeignKeyTies {
  private let pairs: Set<String>

  package init(_ store: StoreConnection) throws {
    pairs = Set(
      try store.db.run(
        """
        SELECT DISTINCT \(ForeignKeyHold.name("conrelid")) || ' ' || \(ForeignKeyHold.name("confrelid"))
        FROM pg_constraint WHERE contype = 'f'
        """
      ).texts)
  }

  package func refers(_ child: MappedTable, _ parent: MappedTable) -> Bool {
    pairs.contains("\(child.name) \(parent.name)")
  }
}
