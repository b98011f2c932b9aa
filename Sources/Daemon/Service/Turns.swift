internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import Spool
internal import SystemdService

/// For how long the store is open.
///
/// 1. Usually it stays open.
/// 2. A store that is paused or detached, or that its application wants for itself, is open only as long as
///    there is work, so that others may take it for themselves.
/// 3. Of very many stores, only those stay open that were used last (`Stores.makeRoom`). One that is closed is
///    opened again when its files have changed, or when the daemon itself has a reason.
extension StoreService {
  private var staysOpen: Bool { !configuration.isExclusive && !condition.isAtRest }

  /// Runs `body`, during which the store stays open. The last of several such tasks closes it.
  func inTurn<T: Sendable>(_ body: () async throws -> T) async rethrows -> T {
    uses += 1
    isWriterOpen = true
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
    if uses == 0 { await stores.makeRoom() }
  }

  func closeIfAtRest() async {
    if uses == 0 && !staysOpen { await connections.writer.closeForNow() }
  }

  /// Closes what is open, or lets it be opened again, after a pause or a detachment began or ended.
  func followRest() async {
    connections.setBrief(!staysOpen || stores.areMany)
    await closeIfAtRest()
  }

  /// Whether there is a reason to open a store that is closed.
  var hasReasonForTurn: Bool {
    if condition.isAway || hasOwnWork { return true }
    if configuration.isExclusive {
      return !stores.engine.isAsLeft(at: path) || spoolCounts.waiting > 0
    }
    return isWriterOpen || areFilesChanged
  }

  // MARK: - Very many stores

  var mayBeClosed: Bool {
    isWriterOpen && uses == 0 && isServed && configuration.isFile && staysOpen && !hasOwnWork
      && delayOfReview == nil && openJobs.isEmpty && !mustRetryFiles && condition.trouble == nil
      && closesFrom <= .now
  }

  /// Closes the store if nothing is to be done, and writes nothing meanwhile. Its files must have been left
  /// alone for a moment: then each later write is seen by their times, and one before by the writer. Returns
  /// whether it is closed.
  func closeWhileIdle() async -> Bool {
    let now = currentFileStatuses
    let latest = now.compactMap { $0?.modifiedMilliseconds }.max() ?? 0
    if !mayBeClosed || latest > SystemClock.wall() - StoreService.moment { return false }
    uses += 1
    defer { uses -= 1 }
    for reader in connections.readers { await reader.rest() }
    let isClosed = await connections.writer.closeIfQuiet()
    if !isClosed {
      closesFrom = .now + .seconds(1)
      wake.ring()
      return false
    }
    noteClosed(now)
    openSpool?.rest()
    // Others may have used it meanwhile.
    isWriterOpen = uses > 1
    return true
  }

  /// In milliseconds. The times of files are not finer than some of them.
  private static let moment: Int64 = 50

  /// Which program has a store that it wants for itself; nil if none has.
  var exclusiveUser: String? {
    configuration.isExclusive ? stores.engine.userOfFile(at: path) : nil
  }
}
