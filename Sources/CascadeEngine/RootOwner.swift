internal import CascadeModel
package import CascadeStore
internal import CascadeSystem

/// The store that a root of files belongs to. Two stores would remove each other's files, because neither
/// knows the edges of the other. So the trash of a root has a file that says whose it is, and every other
/// store, also a copy, leaves the root alone.
package struct RootOwner: Sendable {
  /// What tells the store from others, and what it shares with its copies.
  package let id: String
  /// Where it is, which tells it from its copies.
  package let place: String
  /// The inode of the database when it claimed the root, which it keeps if it loses the id by a detach;
  /// nil if it is not a file.
  package let inode: Int64?

  package init(id: String, place: String, inode: Int64? = nil) {
    (self.id, self.place, self.inode) = (id, place, inode)
  }

  func isStore(of other: RootOwner) -> Bool { id == other.id && place == other.place }

  fileprivate init?(_ bytes: [UInt8]) {
    guard let object = try? JSON.parse(String(decoding: bytes, as: UTF8.self)),
      let id = object["store"]?.string, let place = object["at"]?.string
    else { return nil }
    self.init(id: id, place: place, inode: object["inode"]?.integer)
  }

  fileprivate var bytes: [UInt8] {
    let inode = inode.map { [JSON.Field("inode", .integer($0))] } ?? []
    let object = JSON.object([.init("store", .string(id)), .init("at", .string(place))] + inode)
    return Array("\(object.text)\n".utf8)
  }
}

// MARK: - In a directory

extension RootOwner {
  private static let file = FileName("owner")
  private static let longest = 64 << 10

  /// Nil if no store has claimed it.
  static func owner(of directory: borrowing Directory) throws -> RootOwner? {
    if try directory.status(of: file)?.kind != .file { return nil }
    let bytes = try directory.file(file).readWhole(limit: longest)
    return bytes.flatMap(RootOwner.init) ?? RootOwner(id: "", place: "unknown")
  }

  /// Returns whose the directory is then.
  static func claim(
    _ directory: borrowing Directory, for store: RootOwner
  ) throws -> RootOwner? {
    if let owner = try owner(of: directory) { return owner }
    // A daemon that lost its power before the rename has left one of this name.
    let mark = Fingerprint(String(decoding: store.bytes, as: UTF8.self)).value
    let name = FileName(".owner-\(String(mark, radix: 16))")
    try directory.remove(name)
    let new = try directory.file(name, .createNew, mode: 0o600)
    do {
      try new.writeAll(store.bytes)
      try new.sync()
      try directory.rename(name, to: directory, asNew: file)
    } catch {
      try directory.remove(name)
      if !error.isTaken { throw error }
    }
    try directory.sync()
    return try owner(of: directory)
  }
}

extension FileRoots {
  package var owners: [RootOwner] { all.compactMap { (try? $0.owner()) ?? nil } }

  /// Leaves out the roots of other stores. With `claims`, those that belong to none belong to this one
  /// from now on, unless they are empty: an empty directory may be where a file system is to be mounted.
  /// Returns whether all roots that can be used are this store's.
  @discardableResult
  package mutating func leaveOutForeign(_ store: RootOwner, claims: Bool) -> Bool {
    var areOurs = true
    for root in all {
      let mayClaim = claims && !store.id.isEmpty
      let claimed = try? mayClaim && !root.isEmpty ? root.claim(for: store) : root.owner()
      guard let owner = claimed ?? nil, !owner.isStore(of: store) else { continue }
      areOurs = false
      leaveOut(root, because: root.objection(to: owner, of: store))
    }
    return areOurs
  }
}

extension FileRoots {
  /// Makes roots of other stores this one's, which no other store may use any more. `names` are those in
  /// the model; empty: all roots.
  package func take(_ names: [String], for store: RootOwner) throws -> [TakenRoot] {
    let unusable = problems.filter { names.isEmpty || names.contains($0.root) }
    if let problem = unusable.first(where: { self[$0.root] == nil }) {
      throw StoreError(problem.message)
    }
    return try all.filter { names.isEmpty || names.contains($0.name) }.compactMap { root in
      guard let owner = try root.owner(), !owner.isStore(of: store) else { return nil }
      try root.take(for: store)
      return TakenRoot(name: root.name, path: root.path, owner: owner.place)
    }
  }
}

extension FileRoot {
  private static let ownerFile = "\(trash)/owner"

  fileprivate func objection(to owner: RootOwner, of store: RootOwner) -> String {
    let whose = owner.id == store.id ? "another copy of this store" : "another store"
    return "it belongs to \(whose), \(owner.place): two stores would remove each other's files. If "
      + "that one does not use it any more, or is this one in its new place: cascadectl roots take "
      + name
  }

  /// Nil if the root belongs to no store.
  fileprivate func owner() throws -> RootOwner? {
    guard let spot = try spot(FileRoot.ownerFile) else { return nil }
    return try RootOwner.owner(of: spot.parent)
  }

  fileprivate func take(for store: RootOwner) throws {
    if let spot = try spot(FileRoot.ownerFile) { try spot.parent.remove(spot.name) }
    _ = try claim(for: store)
  }

  /// Returns whose the root is then.
  fileprivate func claim(for store: RootOwner) throws -> RootOwner? {
    if let owner = try owner() { return owner }
    let trash = try directory.makeDirectory(beneath: FileRoot.trash, mode: 0o700)
    return try RootOwner.claim(trash, for: store)
  }

  /// Removes the claim of this store, which is not to be attached any more.
  package func giveUp(_ store: RootOwner) throws {
    guard try owner()?.isStore(of: store) == true, let spot = try spot(FileRoot.ownerFile) else {
      return
    }
    try spot.parent.remove(spot.name)
    try removeEmpty(FileRoot.trash)
  }

  /// Whether there is nothing but what Cascade itself has put there to claim it.
  package var isEmpty: Bool {
    get throws {
      let names = try directory.names().map(\.description)
      if names != [FileRoot.trash] { return names.isEmpty }
      guard let spot = try spot(FileRoot.ownerFile) else { return false }
      return try spot.parent.names().map(\.description) == ["owner"]
    }
  }
}
