internal import CascadeModel
internal import CascadePostgres
internal import PostgresBinding

/// Keys that have another type now than when stored edges and leases named them: a migration has changed
/// the type of their columns.
///
/// A stored edge may name a row that has no such key any more. No trigger saw that row go, so no search takes
/// it for gone (`JoinTable.unseen`): `check` lists the edge. When a row has the key again, the edge leads to
/// it.
struct RetypedKeys {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  init(_ store: StoreConnection) { self.store = store }

  // MARK: - Stored edges

  /// Gives the tables of stored edges the types that the keys have now, before the model is bound. Where some
  /// edge names what no key can be any more, they stay as they are, and the binding tells it.
  func followEdges() throws {
    let rows = try db.run(
      "SELECT number, source, destination, part FROM cascade.relation WHERE part LIKE 'stored: %'"
    ).rows
    for row in rows {
      guard let keys = try keys(row[1]!, row[2]!),
        let rules = row[3]!.split(separator: " ").last.flatMap({ Int64($0) })
      else { continue }
      let part = JoinTable.part(keys.map(\.columns), rules: Rules(rawValue: rules))
      if part != row[3] { try convert(row[0]!, keys, part) }
    }
  }

  private typealias End = (letter: String, table: String, columns: Columns)

  /// Those of the ends; nil if one is not known.
  private func keys(_ source: String, _ destination: String) throws -> [End]? {
    let leadsToFiles = destination.hasPrefix(FileRows.collection)
    let ends = [("s", source)] + (leadsToFiles ? [] : [("d", destination)])
    let keys = try ends.compactMap { letter, collection -> End? in
      try key(of: collection).map { (letter, $0.table, $0.columns) }
    }
    return keys.count == ends.count ? keys : nil
  }

  private func key(of collection: String) throws -> (table: String, columns: Columns)? {
    guard case .mapped(let table, let key, _) = store.model.collections[collection] else {
      let objects = try db.run(
        """
        SELECT 'cascade.objects_' || number FROM cascade.collection
        WHERE name = $1 AND to_regclass('cascade.objects_' || number) IS NOT NULL
        """, [collection]
      ).text
      return objects.map { ($0, Columns([Columns.Column(name: "key", family: .text)])) }
    }
    guard let name = try store.qualifiedName(table) else { return nil }
    let columns = try key.compactMap { column in
      try db.type(of: column, in: name).flatMap(KeyFamily.init).map {
        Columns.Column(name: quoted(column), family: $0)
      }
    }
    return columns.count == key.count ? (name, Columns(columns)) : nil
  }

  private func convert(_ number: String, _ keys: [End], _ part: String) throws {
    let table = "cascade.\(keys.count == 1 ? "files" : "edges")_\(number)"
    let types = keys.flatMap { end in
      end.columns.all.enumerated().map { place, column in
        let (name, type) = ("\(end.letter)\(place)", column.family.type)
        return "ALTER \(name) TYPE \(type) USING \(name)::text::\(type)"
      }
    }
    do {
      try db.savepoint {
        try db.execute("ALTER TABLE \(table) \(types.joined(separator: ", "))")
        try db.run(
          "UPDATE cascade.relation SET part = $2 WHERE number = $1::int", [number, part])
        if keys.count == 2 { for end in keys { try mark(table, end) } }
      }
    } catch let error as PostgresError where error.isAboutTheValue || error.isOtherShape {
      return
    }
  }

  private func mark(_ edges: String, _ end: End) throws {
    let columns = Columns(
      end.columns.all.enumerated().map {
        Columns.Column(name: "\(end.letter)\($0.offset)", family: $0.element.family)
      })
    try db.run(
      """
      UPDATE \(edges) e SET added = \(JoinTable.unseen)
      WHERE NOT EXISTS (SELECT FROM \(end.table) t WHERE \(columns.equal("e", end.columns, "t")))
      """)
  }

  // MARK: - Leases

  /// Writes the keys of leases as their tables have them now, once the model is bound. A key that no row can
  /// have any more holds nothing.
  func followLeases() throws {
    for table in store.binding.tables.values where !table.isManaged {
      let types = table.key.families.map(\.type).joined(separator: ", ")
      let known = try db.run(
        "SELECT types FROM cascade.collection WHERE number = \(table.number)"
      ).text
      if known == types { continue }
      if known != nil { try rewriteLeases(of: table) }
      try db.run(
        "UPDATE cascade.collection SET types = $1 WHERE number = \(table.number)", [types])
    }
  }

  /// The trigger, which reads keys by their old types, is made again with the others.
  private func rewriteLeases(of table: MappedTable) throws {
    try db.execute("DROP FUNCTION IF EXISTS cascade.leased() CASCADE")
    let ids = try db.run(
      "SELECT id FROM cascade.lease WHERE collection = $1 AND key IS NOT NULL", [table.collection]
    ).texts
    for id in ids {
      do {
        _ = try db.savepoint {
          try db.run(
            """
            UPDATE cascade.lease l SET key = (SELECT \(table.key.text("k")) FROM (
              SELECT \(LeaseTable.values(table.key, of: "l.key"))) k) WHERE l.id = $1::bigint
            """, [id])
        }
      } catch let error as PostgresError where error.isAboutTheValue {
        continue
      }
    }
  }
}

extension PostgresError {
  /// A column is not there, or a type cannot be cast to another.
  fileprivate var isOtherShape: Bool { ["42703", "42846", "42804"].contains(sqlState) }
}
