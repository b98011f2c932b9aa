package import CascadeModel
internal import CascadeSystem

/// A root of files that the store knows, and the directory that last had something in it.
package struct KnownRoot: Hashable, Sendable {
  package let name: String
  package let path: String?
  package let inode: Int64?
  /// Whether something is remembered of files in it.
  package let isUsed: Bool

  package init(name: String, path: String?, inode: Int64?, isUsed: Bool) {
    (self.name, self.path, self.inode, self.isUsed) = (name, path, inode, isUsed)
  }
}

/// Roots of files that only have another name in the model keep what is known of their files: a root is
/// its directory (`RememberedPart`), by its inode, else by its path, else as `was` says.
package struct RenamedRoots: Sendable {
  private let names: [(old: String, new: String)]

  /// `inode` says which directory is at a path now.
  package init(
    _ model: StoreModel, known: [KnownRoot],
    inode: (_ path: String) -> Int64? = RenamedRoots.inode
  ) {
    let formerNames = model.formerNames.roots
    let known = Dictionary(grouping: known, by: \.name).sorted { $0.key < $1.key }
      .map { $1.first { model.files.values.contains($0.path ?? "") } ?? $1[0] }
      .filter { $0.isUsed || formerNames[$0.name] == nil }
    let wanted = model.files.sorted(by: <).map { name, path in
      RememberedPart(
        name: name, place: inode(path).flatMap(RenamedRoots.place), placeNames: path,
        was: formerNames[name])
    }
    let parts = known.map { root in
      let place = root.inode.flatMap(RenamedRoots.place)
      let isThere = place != nil && root.path.flatMap(inode) == root.inode
      return RememberedPart(
        name: root.name, place: place, placeNames: root.path, isPlaceGone: !isThere)
    }
    names = zip(wanted, RememberedPart.pairs(of: wanted, with: parts)).compactMap { part, place in
      guard let place, known[place].name != part.name else { return nil }
      return (known[place].name, part.name)
    }
  }

  /// The roots of file systems have the same few numbers everywhere, so these tell nothing.
  private static func place(_ inode: Int64) -> String? { inode > 256 ? "\(inode)" : nil }

  package static func inode(at path: String) -> Int64? {
    (try? FileStatus.of(path)).map { Int64(bitPattern: $0.inode) }
  }

  /// Names may go round, so all old ones are given up before new ones are given. Another root that has a
  /// new name gives it up, too.
  package func apply(_ rename: (_ old: String, _ new: String) throws -> Void) rethrows {
    for (place, root) in names.enumerated() { try rename(root.old, "cascade_renamed/\(place)") }
    for (place, root) in names.enumerated() {
      try rename(root.new, "cascade_was/\(root.new)")
      try rename("cascade_renamed/\(place)", root.new)
    }
  }
}
