internal import CascadePostgres
internal import PostgresBinding

/// The table of leases. Applications may write its rows in their own transactions.
package enum LeaseTable {
  /// The server's time, in seconds since 1970.
  package static let seconds = "floor(extract(epoch FROM clock_timestamp()))"

  /// The row that a lease of a whole collection locks until its transaction ends, as others may too.
  package static let rowOfCollections =
    "SELECT FROM cascade.meta WHERE key = 'leases.of_collections'"

  package static let sql = """
    -- What is being built and has no reference yet. Any number of rows may be about the same node,
    -- which need not exist. A row without a key is for the whole collection. `connection` marks the
    -- lease of a client, which ends with its connection; `xid` is the transaction that wrote it.
    CREATE TABLE cascade.lease(
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, collection text NOT NULL, key text,
      owner text, expires bigint NOT NULL DEFAULT \(LeaseTable.seconds) + 900, connection bigint,
      xid xid8 NOT NULL DEFAULT pg_current_xact_id(),
      CONSTRAINT "expires is in seconds since 1970" CHECK(expires < 100000000000));
    CREATE INDEX lease_nodes ON cascade.lease(collection, key);
    INSERT INTO cascade.meta(key, value) VALUES('leases.of_collections', 0);
    """

  /// The owner of a table of the model may lease its rows.
  static func grant(_ store: StoreConnection) throws {
    let owners = try store.db.run(
      """
      SELECT DISTINCT format('%I', r.rolname) FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
      WHERE c.oid = ANY($1::regclass[]::oid[])
      AND NOT has_table_privilege(r.oid, 'cascade.lease', 'DELETE')
      """, [arrayText(store.binding.tables.values.filter { !$0.isManaged }.map(\.name))]
    ).texts
    for owner in owners {
      try store.db.execute(
        """
        GRANT USAGE ON SCHEMA cascade TO \(owner);
        GRANT SELECT, INSERT, UPDATE, DELETE ON cascade.lease TO \(owner)
        """)
    }
  }
}

extension Triggers {
  /// The triggers of the table of leases: a lease keeps its row from being deleted until it is
  /// committed, and its key is written as the row has it.
  var leases: [Trigger] {
    let tables = binding.tables.values.sorted { $0.number < $1.number }
    let hold = tables.map { table in
      """
      IF NEW.collection = \(literal(table.collection)) AND NEW.key IS NOT NULL THEN
        NEW.key := (SELECT \(table.key.text("k")) FROM (
          SELECT \(LeaseTable.values(table.key, of: "NEW.key"))) k);
        PERFORM 1 FROM \(table.name) t WHERE \(table.key.equal("t", text: "NEW.key"))
        FOR KEY SHARE;
      END IF;
      """
    }
    return [
      trigger(
        "cascade_leased", on: "cascade.lease", "leased",
        "INSERT OR UPDATE ON cascade.lease FOR EACH ROW",
        """
        \(hold.joined(separator: "\n"))
        IF NEW.key IS NULL THEN
          PERFORM FROM (\(LeaseTable.rowOfCollections) FOR KEY SHARE) l;
        END IF;
        NEW.xid := pg_current_xact_id();
        """, before: "NEW")
    ] + released
  }
}

extension Triggers {
  /// Wakes the daemon when a lease has ended.
  private var released: [Trigger] {
    if wake.isEmpty { return [] }
    return [
      trigger(
        "cascade_released", on: "cascade.lease", "released",
        "DELETE ON cascade.lease FOR EACH STATEMENT", "")
    ]
  }
}

extension LeaseTable {
  /// The values of a key that a text names, as columns of their names.
  static func values(_ key: Columns, of text: String) -> String {
    zip(key.parts(of: text), key.all).map { "\($0) AS \($1.name)" }.joined(separator: ", ")
  }
}
