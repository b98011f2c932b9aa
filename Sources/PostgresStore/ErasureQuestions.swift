internal import CascadePostgres
package import CascadeStore
internal import PostgresBinding
internal import PostgresTables

/// What is asked before something is erased. The evidence is what the schema says: foreign keys, and columns
/// that are called as a table's key usually is elsewhere.
extension PostgresReader {
  package func erasureScope() throws -> ErasureScope {
    try ask { store in
      var scope = ErasureScope()
      for (name, table) in store.binding.tables where !table.isManaged {
        scope.tables[name] = table.name
      }
      for relation in store.binding.relations {
        let columns = (relation.columns?.all ?? []).map(\.unquotedName)
        scope.cover(relation.source.name, columns)
        guard let join = relation.join else { continue }
        scope.cover(join.name, (join.source.all + join.destination.all).map(\.unquotedName))
      }
      return scope
    }
  }

  package func evidence() throws -> [ColumnEvidence] {
    try ask { store in
      try store.db.run(
        """
        SELECT format('%I.%I', n.nspname, t.relname), a.attname,
          format('%I.%I', m.nspname, p.relname), 'a foreign key'
        FROM pg_constraint c JOIN pg_class t ON t.oid = c.conrelid JOIN pg_namespace n ON n.oid = t.relnamespace
        JOIN pg_class p ON p.oid = c.confrelid JOIN pg_namespace m ON m.oid = p.relnamespace
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)
        WHERE c.contype = 'f' AND c.confdeltype IN ('a', 'r') AND n.nspname <> 'cascade'
        UNION
        SELECT format('%I.%I', n.nspname, t.relname), a.attname,
          format('%I.%I', m.nspname, p.relname), format('its name, and the type of the key of %I', p.relname)
        FROM pg_class p JOIN pg_namespace m ON m.oid = p.relnamespace
        JOIN pg_index i ON i.indrelid = p.oid AND i.indisprimary AND i.indnkeyatts = 1
        JOIN pg_attribute k ON k.attrelid = p.oid AND k.attnum = i.indkey[0]
        JOIN pg_attribute a ON a.atttypid = k.atttypid AND a.attnum > 0 AND NOT a.attisdropped
          AND lower(a.attname) IN (lower(p.relname) || '_id', lower(p.relname) || 'id',
            regexp_replace(lower(p.relname), 's$', '') || '_id', regexp_replace(lower(p.relname), 's$', '') || 'id')
        JOIN pg_class t ON t.oid = a.attrelid AND t.relkind IN ('r', 'p') JOIN pg_namespace n ON n.oid = t.relnamespace
        WHERE p.relkind IN ('r', 'p') AND n.nspname NOT IN ('cascade', 'pg_catalog', 'information_schema')
          AND m.nspname NOT IN ('cascade', 'pg_catalog', 'information_schema') AND (t.oid <> p.oid OR a.attnum <> k.attnum)
        ORDER BY 1, 2, 3
        """
      ).rows.map {
        ColumnEvidence(table: $0[0]!, columns: [$0[1]!], to: $0[2]!, evidence: $0[3]!)
      }
    }
  }

  /// The server's files are its own.
  package func traces(of texts: [String]) -> [String] { [] }
}

extension Columns.Column {
  /// As the catalog has it.
  fileprivate var unquotedName: String {
    let isQuoted = name.hasPrefix("\"") && name.hasSuffix("\"")
    return isQuoted ? String(name.dropFirst().dropLast()) : name
  }
}

extension PostgresWriter {
  /// That is VACUUM's task, by the owner of the tables.
  package func clearUnusedPlaces(rewrites: Bool) -> Bool { true }
}
