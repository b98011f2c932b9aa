internal import CascadeSQLite
internal import CascadeSystem
/// What is mounted at a root may be away, and the empty directory below it be there in its place: its
/// files are not gone, and wait.
///
/// `cascade_meta` remembers which directory last had something in it (`root.NAME:PATH`). An empty one is
/// taken for the root where it is that one, or where none ever was seen with files.
extension Writer {
  func leaveOutUnmounted(_ roots: inout FileRoots) throws {
    for root in roots.all {
      let meta = "root.\(root.name):\(root.path)"
      let (known, inode) = (try db.meta(meta), try root.inode)
      if known == inode { continue }
      if try root.directory.isEmpty {
        if known != nil { roots.leaveOut(root, because: Writer.unmounted) }
      } else {
        try group { try db.setMeta(meta, inode) }
      }
    }
  }

  private static let unmounted =
    "it is empty, and another directory than the one that had files: what is mounted there may be "
    + "away. If it is not, put any file into it"
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
