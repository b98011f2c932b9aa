internal import CascadeModel
internal import CascadeStore
internal import Spool

/// For how long the store is open. Usually it stays open. A store that is paused or detached, or that
/// its application wants for itself, is open only as long as there is work, so that others may take
/// it for themselves.
extension StoreService {
  private var staysOpen: Bool { !configuration.isExclusive && !condition.isAtRest }

  /// Runs `body`, during which the store stays open. The last of several such tasks closes it.
  func inTurn<T: Sendable>(_ body: () async throws -> T) async rethrows -> T {
    uses += 1
    do {
      let result = try await body()
      await endTurn()
      return result
    } catch {
      await endTurn()
      throw error
    }
  }

  private func endTurn() async {
    uses -= 1
    await closeIfAtRest()
  }

  func closeIfAtRest() async {
    if uses == 0 && !staysOpen { await connections.writer.closeForNow() }
  }

  /// Closes what is open, or lets it be opened again, after a pause or a detachment began or ended.
  func followRest() async {
    connections.setBrief(!staysOpen)
    await closeIfAtRest()
  }

  /// Whether there is a reason to open a store that its application wants for itself.
  var hasReasonForTurn: Bool {
    if !configuration.isExclusive || condition.isAway || hasOwnWork { return true }
    return !stores.engine.isAsLeft(at: path) || spoolCounts.waiting > 0
  }

  /// Which program has a store that it wants for itself; nil if none has.
  var exclusiveUser: String? {
    configuration.isExclusive ? stores.engine.userOfFile(at: path) : nil
  }
}
