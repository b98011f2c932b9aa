package import CascadeModel
package import CascadeStore
internal import CascadeSystem
internal import Zstandard

/// Where the batches of a store are written before its trash forgets them: `DIRECTORY/NAME/BATCH.ndjson.zst`,
/// each a change file that brings back what the batch had.
///
/// 1. A file gets its name when it was synced, read again, and found to be what was to be written. Only then
///    the trash may forget the batch.
/// 2. What has a name is never replaced nor removed. After a crash a batch is written again, which comes to the
///    same; the batch of a store that was attached anew gets another name.
/// 3. The directory of a store says whose it is, as the trash of a root of files does.
package struct BatchArchive {
  private let path: String
  private let name: String
  private let owner: RootOwner

  /// Why nothing can be written. Nothing is forgotten then.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    fileprivate init(description: String) { self.description = description }

    /// What would have to be known of a batch is not.
    package init(missing what: String) {
      self.init(description: "the archive cannot have a batch whole: \(what) is not known any more")
    }

    fileprivate init(unusableRoot root: String) {
      self.init(
        description: "the archive waits for the root of files \"\(root)\", which cannot be used")
    }
  }

  /// `name` is what the store is called there.
  package init(_ path: String, name: String, of owner: RootOwner) {
    (self.path, self.name, self.owner) = (path, name, owner)
  }

  package struct Batch {
    package let number: Int64
    package let cause: String
    package let author: String?
    package let at: Int64
    package let counts: [String: Int]

    package init(number: Int64, cause: String, author: String?, at: Int64, counts: [String: Int]) {
      (self.number, self.cause, self.author) = (number, cause, author)
      (self.at, self.counts) = (at, counts)
    }
  }

  /// How many lines one transaction takes that brings them back.
  private static let linesAtOnce: Int64 = 5_000

  private func header(_ batch: Batch) -> JSON {
    let counts = batch.counts.sorted { $0.key < $1.key }
      .map { JSON.Field($0.key, .integer(Int64($0.value))) }
    return [
      "id": .string("archive-\(name)-\(batch.number)-\(batch.at)"),
      "author": batch.author.map(JSON.string) ?? "archive",
      "batch": .integer(BatchArchive.linesAtOnce),
      "archive": [
        "store": .string(owner.place), "batch": .integer(batch.number),
        "cause": .string(batch.cause),
        "at": .integer(batch.at), "counts": .object(counts),
      ],
    ]
  }

  /// Writes a batch, unless `body` has no line for it.
  package func write(_ batch: Batch, _ body: (ArchiveLines) throws -> Void) throws {
    try failing {
      let directory = try ownDirectory()
      let name = FileName(".\(batch.number).part")
      try directory.remove(name)
      var count = 0
      let written = try ArchiveFile.write(name, in: directory) { lines in
        try lines.write(header(batch))
        try body(lines)
        count = lines.count
      }
      if count == 1 {
        try directory.remove(name)
        return
      }
      guard try ArchiveFile.digest(name, in: directory) == written else {
        throw Failure(
          description: "what was written to \(directory.path(of: name)) reads otherwise")
      }
      try settle(name, batch.number, written, in: directory)
      try directory.sync()
    }
  }

  /// Gives the file its name, unless one is there that is the same.
  private func settle(
    _ part: FileName, _ batch: Int64, _ digest: [UInt8], in directory: borrowing Directory
  ) throws {
    for attempt in 1... {
      let name = FileName("\(batch)\(attempt == 1 ? "" : "-\(attempt)").ndjson.zst")
      if try directory.status(of: name) == nil {
        return try directory.rename(part, to: directory, asNew: name)
      }
      if try ArchiveFile.digest(name, in: directory) == digest {
        try directory.remove(part)
        return
      }
    }
  }

  // MARK: - Files

  /// Copies a file out of the trash of its root.
  private func keep(_ path: String, of root: FileRoot, batch: Int64) throws {
    try failing {
      guard try root.isInTrash(path, batch: batch), let spot = try root.spotInTrash(path, batch)
      else { return }
      let source = try spot.parent.file(spot.name)
      let place = "\(batch)/\(root.name)/\(path)"
      let target = try ownDirectory().makeDirectory(beneath: place.parentPath, mode: 0o700)
      try ArchiveFile.copy(source, as: FileName(place.lastPart), in: target)
    }
  }

  package func keep(
    _ path: String, ofRoot name: String, in roots: FileRoots, batch: Int64
  ) throws {
    guard let root = roots[name] else { throw Failure(unusableRoot: name) }
    try keep(path, of: root, batch: batch)
  }

  /// Copies a file back, into the trash of its root, as one of another batch. Returns whether it was there.
  package func bring(
    _ path: String, of root: FileRoot, archivedIn archived: Int64, as batch: Int64
  ) throws -> Bool {
    try failing {
      let place = "\(archived)/\(root.name)/\(path)"
      let directory: Directory
      do {
        directory = try ownDirectory().directory(beneath: place.parentPath)
      } catch let error as SystemError where error.isAbsence {
        return false
      }
      let name = FileName(place.lastPart)
      guard try directory.status(of: name)?.kind == .file else { return false }
      let kept = FileRoot.trashPath(path, batch)
      let target = try root.directory.makeDirectory(beneath: kept.parentPath, mode: 0o700)
      try ArchiveFile.copy(directory.file(name), as: FileName(kept.lastPart), in: target)
      return true
    }
  }

  // MARK: - Its directory

  private func failing<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as SystemError {
      throw Failure(description: "the archive \(path) cannot be written: \(error)")
    } catch let error as ZstdError {
      throw Failure(description: "the archive \(path) cannot be written: \(error)")
    }
  }

  private func ownDirectory() throws -> Directory {
    let directory = try Directory.open(path)
    if owner.id.isEmpty {
      throw Failure(description: "the archive \(path) waits until all roots of files can be used")
    }
    let own = try directory.makeDirectory(beneath: name, mode: 0o700)
    if let other = try RootOwner.claim(own, for: owner), !other.isStore(of: owner) {
      throw Failure(
        description:
          "\(path)/\(name) belongs to another store, \(other.place): give this one another "
          + "archive, or remove the file \"owner\" there if it is this one in its new place")
    }
    return own
  }
}

/// Why a line of an archive is refused.
extension Rejection {
  /// Throws where the trash, through which an archive comes back, keeps nothing.
  package static func refuseRestoring(by model: StoreModel) throws {
    if model.trash > .zero { return }
    throw Rejection(.invalid, "an archive cannot be brought back where \"trash\" keeps nothing")
  }

  package static let unknownRestored = Rejection(
    .invalid, "\"restore\" is for what an archive has: this is none of it")
}
