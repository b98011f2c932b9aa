internal import CascadeSQLite
internal import CascadeSystem
internal import CascadePlanning
internal import SQLiteTables
internal import SQLiteJournal

/// The file system of a root may be unmounted, and the empty directory below it be seen in its
/// place. Then the root's files are not gone, and wait.
///
/// `cascade_meta` remembers which directory last had something in it (`MetaKey.fileRoot`). An empty
/// directory is taken for the root if it is that one, or if none with files was ever seen.
extension Writer {
  func leaveOutUnmounted(_ roots: inout FileRoots) throws {
    for root in roots.all {
      let key = MetaKey.fileRoot(root.name, path: root.path)
      let (known, inode) = (try db.meta(key), try root.inode)
      if known == inode { continue }
      if try root.directory.isEmpty {
        if known != nil { roots.leaveOut(root, because: Writer.unmounted) }
      } else {
        try group { try db.setMeta(key, inode) }
      }
    }
  }

  private static let unmounted =
    "it is empty, and not the directory that had files before: a file system may not be mounted "
    + "there. If nothing is missing, put any file into it"
}

extension FileRoot {
  fileprivate var inode: Int64 {
    get throws { Int64(bitPattern: try directory.descriptor.status().inode) }
  }
}

extension Directory {
  fileprivate var isEmpty: Bool {
    get throws {
      let entries = try entries()
      return try entries.next() == nil
    }
  }
}
