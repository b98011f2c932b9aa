/// A limited number of things that users share. Nobody may have more of them than are then still
/// free. So one user can take half of them, and the next user half of the rest.
package struct Shares {
  private let total: Int
  private var used = 0
  private var parts: [UInt32: Int] = [:]

  package init(of total: Int) { self.total = total }

  package func part(of user: UInt32) -> Int { parts[user] ?? 0 }

  package func hasRoom(for count: Int = 1, of user: UInt32) -> Bool {
    part(of: user) + count <= total - used - count
  }

  /// Takes a negative number to give back.
  package mutating func take(_ count: Int = 1, for user: UInt32) {
    used += count
    parts[user, default: 0] += count
    if parts[user] == 0 { parts[user] = nil }
  }

  /// The users who have at least this many, those with most of them first.
  package func users(with least: Int) -> [UInt32] {
    parts.filter { $0.value >= least }.sorted { $0.value > $1.value }.map(\.key)
  }
}
