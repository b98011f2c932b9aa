internal import CascadePostgres
internal import CascadeStore
internal import CascadeSystem
internal import Glibc

/// Of several daemons, one leads.
package struct Leadership {
  private let store: StoreConnection

  package init(_ store: StoreConnection) { self.store = store }

  /// The application name of all connections of this process.
  package static let daemon: String = {
    let random = ((try? Process.randomBytes(6)) ?? []).map { String($0, radix: 16) }.joined()
    return "\(namePrefix)\(getpid()) \(random)"
  }()
  static let namePrefix = "cascaded "

  /// A daemon that waits looks again after this time at most.
  static let longestWait = Duration.milliseconds(200)

  /// Waits for about a second. Throws `StoreAway` if another one leads then. Where Cascade's
  /// tables are not, no daemon leads, unless this one `attaches` them.
  package func take(attaching attaches: Bool) throws {
    let isTaken =
      switch store.dialect {
      case .fast:
        try LeaderLock(store).take(makingSchema: attaches) && !LeaderTerm.isAny(store)
      case .portable: try LeaderTerm(store).take(attaching: attaches)
      }
    if isTaken { return }
    let stranger = store.dialect == .fast ? try LeaderLock(store).stranger() : nil
    throw StoreAway(
      stranger ?? "another daemon serves \(store.path)", lookAgain: Leadership.longestWait)
  }

  /// Runs what removes Cascade's tables, and with them what tells who leads.
  package func leave<T>(_ body: () throws -> T) throws -> T {
    let result = try store.db.transaction(isFenced: false) {
      try LeaderTerm.confirm(store)
      return try body()
    }
    store.lead(in: nil)
    return result
  }
}
