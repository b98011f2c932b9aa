internal import CascadeSystem

/// The file system of a root may be unmounted, and the empty directory below it be seen in its
/// place. Then the root's files are not gone, and wait.
///
/// The store remembers which directory last had something in it. An empty directory is taken for the
/// root if it is that one, or if none with files was ever seen.
extension FileRoots {
  /// Directories are known by the number of their inode.
  package mutating func leaveOutUnmounted(
    known: (FileRoot) throws -> Int64?, remember: (FileRoot, Int64) throws -> Void
  ) throws {
    for root in all {
      let (known, inode) = (try known(root), try root.inode)
      if known == inode { continue }
      if try root.isEmpty {
        if known != nil { leaveOut(root, because: FileRoots.unmounted) }
      } else {
        try remember(root, inode)
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
