package import CascadeStore
package import CascadeModel
internal import CascadeSystem

/// The roots of the model, as they are on the disk now.
package struct FileRoots {
  private var roots: [String: FileRoot] = [:]
  /// The real paths of roots that others could replace. They may be those of other roots.
  private var refused: [String] = []
  package private(set) var problems: [Problem] = []

  /// Why the files of a root are left alone, or are at risk.
  package struct Problem {
    package enum Kind: String { case fileRoot, unsafeFileRoot }
    package let kind: Kind
    let root: String
    package let message: String
  }

  package init(_ model: StoreModel, _ paths: StorePaths) {
    let surroundings = Surroundings(paths)
    let store = FileStatus.realPath(paths.store) ?? paths.store
    let safe = Result { try SafePaths(store: store) }
    for (name, path) in model.files.sorted(by: { $0.key < $1.key }) {
      do {
        roots[name] = try FileRoot(name, path, surroundings, safe.get())
      } catch {
        if error is UnsafePath { refused.append(FileStatus.realPath(path) ?? path) }
        problems.append(
          Problem(kind: .fileRoot, root: name, message: "files.\(name) cannot be used: \(error)"))
      }
    }
    leaveOutOverlaps()
    leaveOutRefused()
    for root in all { warn(of: root, surroundings) }
  }

  package var all: [FileRoot] { roots.values.sorted { $0.name < $1.name } }

  package subscript(name: String) -> FileRoot? { roots[name] }

  package mutating func leaveOut(_ root: FileRoot, because reason: String) {
    roots[root.name] = nil
    problems.append(
      Problem(
        kind: .fileRoot, root: root.name,
        message: "files.\(root.name) (\(root.path)) cannot be used: \(reason)"))
  }

  /// Leaves out roots within each other. Their files would have two names, and the edges of each
  /// name would be counted apart.
  private mutating func leaveOutOverlaps() {
    let all = all
    for one in all {
      for other in all where one !== other && one.realPath.isWithin(other.realPath) {
        problems.append(
          Problem(
            kind: .unsafeFileRoot, root: one.name,
            message: "files.\(one.name) is within files.\(other.name) (\(other.realPath)): a file "
              + "would have two names, so no file of either is removed"))
        roots[one.name] = nil
        roots[other.name] = nil
      }
    }
  }

  /// Edges of a root that is refused may name the same files.
  private mutating func leaveOutRefused() {
    for root in all {
      let isShared = refused.contains { $0.isWithin(root.realPath) || root.realPath.isWithin($0) }
      if !isShared { continue }
      roots[root.name] = nil
      problems.append(
        Problem(
          kind: .unsafeFileRoot, root: root.name,
          message: "files.\(root.name) has files of a root that cannot be used, so none of its "
            + "files is removed"))
    }
  }

  private mutating func warn(of root: FileRoot, _ surroundings: Surroundings) {
    let inside = surroundings.all.filter { $0.isWithin(root.realPath) }
    if let ours = inside.first {
      problems.append(
        Problem(
          kind: .unsafeFileRoot, root: root.name,
          message: "files.\(root.name) contains \(ours): files of applications do not belong "
            + "beside it; it is not touched"))
    } else if surroundings.cover(root.realPath) {
      problems.append(
        Problem(
          kind: .unsafeFileRoot, root: root.name,
          message: "files.\(root.name) is in a directory of Cascade: none of its files is removed"
        ))
    }
  }
}
