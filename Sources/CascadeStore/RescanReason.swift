/// Why the next sweep must scan whole tables: triggers cannot report changes that were not watched
/// (see `bind`). The sweep that scans clears the reason, once it is done or was approved.
package enum RescanReason: Hashable, Sendable {
  /// A collection existed before it was watched. What dangled then is deleted only with approval,
  /// however little it is.
  case firstWatch
  /// For some time the tables were not watched. The usual limits apply.
  case watchGap
}
