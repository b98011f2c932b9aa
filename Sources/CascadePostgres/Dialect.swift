/// Which parts of PostgreSQL the engine's statements and triggers use.
package enum Dialect: String, CaseIterable, Sendable {
  /// All that makes them fast.
  case fast
  /// Not those that sharded engines with PostgreSQL's protocol lack: transition tables, triggers of
  /// statements, temporary tables, advisory locks, notifications and the connections of others.
  case portable
}
