internal import CascadeCSystem
internal import Glibc

/// The way from / to a path, one name after the other, by open directories: what was examined is
/// what is used, whatever is moved meanwhile. Links on the way are followed, and belong to it. In
/// the last part of the path no link is followed.
package struct Route: ~Copyable, Sendable {
  package struct Step: Sendable {
    package let path: String
    package let status: FileStatus
  }

  /// The directories and links on the way, from / to the parent.
  package let steps: [Step]
  package let parent: Directory
  package let name: FileName
  package let path: String

  /// More are a loop of links.
  private static let mostSteps = 1_000

  package init(to path: String) throws(SystemError) {
    let absolute = try Process.absolutePath(path)
    var rest = Route.names(Array(absolute.utf8))
    let last = rest.popLast() ?? "."
    var directory = try Route.root()
    var steps = [try directory.step()]
    while !rest.isEmpty {
      let entry = try directory.entry(rest.removeFirst())
      steps.append(try entry.step())
      if steps.last?.status.kind != .symbolicLink {
        directory = entry
      } else {
        let target = try entry.linkTarget()
        if target.first == UInt8(ascii: "/") { directory = try Route.root() }
        rest = Route.names(target) + rest
      }
      if steps.count > Route.mostSteps { throw SystemError(code: ELOOP, call: "open", path: path) }
    }
    name = last
    self.path = absolute
    self.steps = steps
    parent = directory
  }

  /// What is at the end of the way; nil if there is nothing.
  package func status() throws(SystemError) -> FileStatus? { try parent.status(of: name) }

  private static func names(_ path: [UInt8]) -> [FileName] {
    path.split(separator: UInt8(ascii: "/")).map { FileName(bytes: Array($0)) }
      .filter { $0 != "." }
  }

  private static func root() throws(SystemError) -> Directory {
    let raw = try checked("open", "/") { unsafe cascade_open_entry(AT_FDCWD, "/") }
    return Directory(descriptor: FileDescriptor(owning: raw), path: "")
  }
}

extension Directory {
  fileprivate func step() throws(SystemError) -> Route.Step {
    Route.Step(path: path.isEmpty ? "/" : path, status: try descriptor.status())
  }

  /// An entry of any kind, as itself: a link is not followed, and nothing is read.
  fileprivate func entry(_ name: FileName) throws(SystemError) -> Directory {
    let raw = try checked("open", path(of: name)) {
      unsafe cascade_open_entry(descriptor.raw, name.cString)
    }
    return Directory(descriptor: FileDescriptor(owning: raw), path: path(of: name))
  }

  fileprivate func linkTarget() throws(SystemError) -> [UInt8] {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = try checked("readlink", path) {
      unsafe readlinkat(descriptor.raw, "", &bytes, bytes.count)
    }
    return bytes.prefix(count).map { UInt8(bitPattern: $0) }
  }
}
