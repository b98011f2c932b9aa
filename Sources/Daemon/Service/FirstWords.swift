internal import CascadeModel
internal import CascadeStore
internal import SystemdService

/// What a store's owner has to know at the start.
extension StoreService {
  /// WAL mode outlives the daemon, so it is announced before it is set. A store that is waited for
  /// is opened again and again.
  func announceJournalMode() {
    if hasAnnouncedJournal || !stores.engine.willChangeJournal(at: path, configuration.model) {
      return
    }
    hasAnnouncedJournal = true
    tell(
      .notice, .journalMode,
      "the database is not in WAL mode: it is put into it now, and stays in it; `exclusive: true` "
        + "in the model leaves the journal mode as it is")
  }

  /// Without a model, nothing follows from what an application deletes.
  func tellOfMissingModel() async {
    if configuration.hasModel || hasLooked || condition.isAtRest { return }
    guard let counts = try? await reader.read({ try $0.tableCounts() }), counts.others > 0
    else { return }
    let file = StoreConfiguration.modelFile(of: path)
    tell(
      .notice, .noModel,
      "there is no model (\(file)), so nothing follows when an application deletes rows. In the "
        + "database, only the WAL mode and \(counts.own.counted("table", "tables")) cascade_* are "
        + "Cascade's. To begin: `cascadectl suggest \(path) > \(file)`, read it, and `cascadectl "
        + "--store \(path) reload`; `cascadectl --store \(path) detach` removes the tables")
  }
}
