/// The differences between two models of a store, for reports of a reload.
extension StoreModel {
  /// One short text for each difference; empty if only the text of the file differs.
  package func changes(since old: StoreModel) -> [String] {
    Changes.of("collection", collections, old.collections)
      + Changes.of("relationship", byName(relationships), byName(old.relationships))
      + Changes.of("keepDeleted of", keptDeleted, old.keptDeleted)
      + Changes.of("expiry of", expiries, old.expiries)
      + Changes.of("softDelete of", softDeletions, old.softDeletions)
      + Changes.of("fetched property of", fetched, old.fetched)
      + Changes.of("former name of", formerNames.collections, old.formerNames.collections)
      + Changes.of("former name of root", formerNames.roots, old.formerNames.roots)
      + Changes.of("files", files, old.files) + settings(since: old)
  }

  private func byName(_ relationships: [Relationship]) -> [String: [Relationship]] {
    Dictionary(grouping: relationships) { "\($0.from).\($0.name)" }
  }

  private func settings(since old: StoreModel) -> [String] {
    [
      (spool != old.spool, "spool"), (exclusive != old.exclusive, "exclusive"),
      (strict != old.strict, "strict"), (access != old.access, "access"),
      (roots != old.roots, "roots"),
      (sweeps != old.sweeps, "sweeps"), (limits != old.limits, "limits"),
      (trash != old.trash, "trash"), (archive != old.archive, "archive"),
      (retention != old.retention, "keep"),
      (keepsAllDeleted != old.keepsAllDeleted, "keepDeleted"),
      (secureDelete != old.secureDelete, "secureDelete"),
    ].filter(\.0).map { "\($0.1) changed" }
  }
}

private enum Changes {
  static func of<T: Equatable>(
    _ what: String, _ new: [String: T], _ old: [String: T]
  ) -> [String] {
    Set(new.keys).union(old.keys).sorted().compactMap { name in
      if new[name] == old[name] { return nil }
      let verb = old[name] == nil ? "added" : new[name] == nil ? "removed" : "changed"
      return "\(what) \(name) \(verb)"
    }
  }
}
