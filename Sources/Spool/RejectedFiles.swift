internal import CascadeSystem

/// How long rejected files are kept.
extension SpoolDirectory {
  /// So many of the newest stay, however old they are.
  package static let mostRejectedKept = 1_000

  /// Removes files that were rejected before a time, in milliseconds since 1970, and reasons that a
  /// crash left without a file. Returns how many files there were.
  @discardableResult
  package func forgetRejected(before time: Int64, keeping newest: Int = mostRejectedKept) throws
    -> Int
  {
    let names = try rejectedNames()
    try forgetLoneReasons(of: names, before: time)
    if names.count <= newest { return 0 }
    let old = try names.map { ($0, try rejectedAt($0)) }.sorted { $0.1 > $1.1 }
      .dropFirst(newest).filter { $0.1 < time }
    for (name, _) in old { _ = try dropRejected(name) }
    return old.count
  }

  /// The reasons are written when the file is rejected. The file itself may be much older.
  private func rejectedAt(_ name: FileName) throws -> Int64 {
    let status = try parts.rejected.status(of: SpoolDirectory.reasonName(of: name))
    return try (status ?? parts.rejected.status(of: name))?.modifiedMilliseconds ?? .max
  }

  private func forgetLoneReasons(of names: [FileName], before time: Int64) throws {
    let known = Set(names + names.map(SpoolDirectory.reasonName))
    for name in try parts.rejected.names() where name.isOfReasons && !known.contains(name) {
      if let at = try parts.rejected.status(of: name)?.modifiedMilliseconds, at < time {
        try parts.rejected.remove(name)
      }
    }
  }
}
