package import CascadePostgres

/// The standbys of a server that could be promoted: they receive its log now, and replay it. An archiver
/// receives it, too, and what only an archiver has is lost when a standby is promoted. Where the store's
/// URI names standbys, these are the ones, and no others.
package struct Standbys {
  private let names: [String]

  package init(_ location: Location) { names = location.standbys }

  /// The position that everybody has.
  package static let nothing = "'0/0'::pg_lsn"

  /// In SQL, the statement that lets the role see them.
  package static let grant = "'GRANT pg_monitor TO ' || quote_ident(session_user)"

  /// Whether a standby is expected, although none was seen yet.
  package var areNamed: Bool { !names.isEmpty }

  /// Whether a row `r` of `pg_stat_replication` is one of them.
  private var counts: String {
    let isOne =
      names.isEmpty
      ? "r.replay_lsn IS NOT NULL"
      : "r.application_name = ANY(\(literal(arrayText(names)))::text[])"
    return "r.state = 'streaming' AND \(isOne)"
  }

  /// Who may not see how far they are sees a null as the state.
  package func query(upTo position: String) -> String {
    """
    SELECT count(*) FILTER (WHERE \(counts)),
      coalesce(bool_or(\(counts) AND r.flush_lsn >= w.lsn), false),
      coalesce(bool_or(r.pid IS NOT NULL AND r.state IS NULL), false),
      string_agg(r.application_name, ', ' ORDER BY 1) FILTER (WHERE NOT (\(counts))), w.lsn
    FROM (SELECT \(position) AS lsn) w LEFT JOIN pg_stat_replication r ON true GROUP BY w.lsn
    """
  }

  /// What the query saw, and the position.
  package static func sight(_ row: [String?]) -> (StandbyMemory.Sight, position: String) {
    let sight = StandbyMemory.Sight(
      count: Int(row[0] ?? "") ?? 0, hasAll: row[1] == "t", isHidden: row[2] == "t",
      others: row[3])
    return (sight, row[4] ?? "0/0")
  }
}
