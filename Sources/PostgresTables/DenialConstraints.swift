internal import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding

/// Foreign keys that deny what the rules 128 and 256 deny, whatever the isolation of a transaction.
///
/// A trigger sees what was committed when its transaction's snapshot was taken, and above READ
/// COMMITTED that may be long ago. A foreign key sees every commit. For its rows that dangle already,
/// it is not valid. References in lists or of several kinds, and rule 256 of a reference in
/// columns, which goes with its row, have no foreign key.
package struct DenialConstraints {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  private struct ForeignKey {
    let name: String
    let table: String
    let columns: Columns
    let other: MappedTable
    let isPartitioned: Bool

    /// That of a partitioned table has to be valid.
    var sql: String {
      """
      ALTER TABLE \(table) ADD CONSTRAINT \(name) FOREIGN KEY (\(columns.names)) \
      REFERENCES \(other.name) (\(other.key.names)) ON DELETE NO ACTION\(isPartitioned ? "" : " NOT VALID")
      """
    }
  }

  /// Creates those that are missing where the tables' owner let the daemon's role do so.
  package func create() throws -> OwnerReport {
    var report = OwnerReport()
    for key in try store.binding.relations.flatMap(wanted).filter({ try !isThere($0) }) {
      if try mayAlter(key.table) && mayAlter(key.other.name) {
        try store.db.execute(key.sql)
        report.made.append("\(key.name) on \(key.table)")
      } else {
        report.forOwner.append(key.sql)
      }
    }
    return report
  }

  private func wanted(_ relation: EdgeRelation) -> [ForeignKey] {
    if relation.isStored { return [] }
    return EdgeEnd.allCases.compactMap { end in
      let rule = end.denial
      let columns = relation.join?.columns(at: end) ?? (end == .source ? nil : relation.columns)
      let other = relation.table(at: end)
      guard relation.rules.contains(rule), let columns, !other.isManaged, relation.isPlain,
        !columns.all.contains(where: \.isText)
      else { return nil }
      let table = relation.join?.name ?? relation.source.name
      return ForeignKey(
        name: "cascade_denial_\(relation.number)_\(end)", table: table, columns: columns,
        other: other, isPartitioned: store.binding.partitions[table] != nil)
    }
  }

  private func isThere(_ key: ForeignKey) throws -> Bool {
    let columns = [key.columns, key.other.key].map { arrayText($0.all.map(\.name)) }
    return try store.db.run(
      """
      SELECT EXISTS (SELECT FROM pg_constraint c WHERE c.contype = 'f' AND c.confdeltype IN ('a', 'r')
        AND c.conrelid = $1::regclass AND c.confrelid = $2::regclass
        AND (SELECT bool_and(EXISTS (SELECT FROM unnest($3::text[], $4::text[]) w(name, other)
            WHERE w.name = \(quotedName("a")) AND w.other = \(quotedName("o"))))
          FROM unnest(c.conkey, c.confkey) k(number, other)
          JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number
          JOIN pg_attribute o ON o.attrelid = c.confrelid AND o.attnum = k.other))
      """, [key.table, key.other.name] + columns
    ).bool
  }

  private func quotedName(_ attribute: String) -> String {
    #"'"' || replace(\#(attribute).attname, '"', '""') || '"'"#
  }

  private func mayAlter(_ table: String) throws -> Bool {
    try store.db.run(
      """
      SELECT pg_has_role(session_user, c.relowner, 'USAGE') FROM pg_class c
      WHERE c.oid = $1::regclass
      """, [table]
    ).bool
  }

  /// Drops those that the daemon's role may drop. Others stay with the owner, whose they are.
  package func drop() throws {
    let all = try store.db.run(
      """
      SELECT format('ALTER TABLE %s DROP CONSTRAINT %I', c.conrelid::regclass, c.conname)
      FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid
      WHERE c.contype = 'f' AND c.conname LIKE 'cascade\\_denial\\_%'
      AND pg_has_role(session_user, t.relowner, 'USAGE')
      """
    ).texts
    for statement in all { try store.db.execute(statement) }
  }
}
