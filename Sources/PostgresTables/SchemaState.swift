internal import CascadePostgres
internal import PostgresBinding

/// What a binding and its triggers depend on in the catalog: the tables, their columns and triggers,
/// and the functions of the triggers, each with the transaction that wrote it last. And how many
/// relations and collections there are, because change files add some.
package enum SchemaState {
  /// The same text if nothing has changed; nil if part of the model is not bound.
  package static func read(_ store: StoreConnection) throws -> String? {
    try query(store).flatMap { try store.db.runAgain($0).text }
  }

  package static func query(_ store: StoreConnection) -> String? {
    let binding = store.binding
    if !binding.problems.isEmpty || binding.tables.isEmpty { return nil }
    let tables = binding.tables.values.map(\.name) + binding.relations.compactMap { $0.join?.name }
    return """
      SELECT (SELECT string_agg(concat_ws(' ', c.oid, c.xmin,
          (SELECT string_agg(a.xmin::text, ' ' ORDER BY a.attnum) FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum > 0),
          (SELECT string_agg(concat_ws(':', t.oid, t.xmin, p.oid, p.xmin), ' ' ORDER BY t.oid)
            FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid WHERE t.tgrelid = c.oid),
          CASE WHEN c.relkind = 'p' OR c.relispartition THEN
            (SELECT string_agg(p.relid::oid::text, ' ' ORDER BY p.relid)
              FROM pg_partition_tree(c.oid) p) END), '; ' ORDER BY c.oid)
        FROM unnest(\(literal(arrayText(tables)))::text[]) n JOIN pg_class c ON c.oid = to_regclass(n))
        || (SELECT concat(' ', count(*), ' ', max(l.number), ' ') FROM cascade.relation l)
        || (SELECT concat(count(*), ' ') FROM cascade.collection)
        || \(functions(binding))
        || (SELECT concat(r.rolsuper, r.rolbypassrls) FROM pg_roles r WHERE r.rolname = session_user)
      """
  }

  /// Those by which rows of several owners are written.
  private static func functions(_ binding: Binding) -> String {
    if binding.access.isEmpty { return "''" }
    return """
      (SELECT concat(string_agg(concat(n.xmin, ' ', p.oid, ':', p.xmin), ' ' ORDER BY p.oid), ' ')
        FROM pg_namespace n LEFT JOIN pg_proc p ON p.pronamespace = n.oid
        WHERE n.nspname = \(literal(RowAccess.schema)))
      """
  }
}
