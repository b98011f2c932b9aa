internal import CascadeModel
internal import CascadeSystem

/// Who may write what a store consists of, and so change the store. What is unsafe when the store
/// is opened is refused; here it is found as long as the store is served.
enum WriteAccess {
  static func findings(of configuration: StoreConfiguration, socket: String?) throws -> [JSON] {
    var messages: [String] = []
    for path in unsafePaths(of: configuration) where !messages.contains(path) {
      messages.append(path)
    }
    if let socket, try isOpenToOthers(socket) {
      messages.append(
        "\(socket) can be written by every user: a user who connects there can change the whole "
          + "store")
    }
    return messages.map { ["kind": "access", "message": .string($0)] }
  }

  private static func unsafePaths(of configuration: StoreConfiguration) -> [String] {
    let spool = configuration.spoolPath
    let directories =
      ["", "/new", "/held", "/rejected", "/tmp"].map { spool + $0 }
      + configuration.model.files.values.sorted()
    let paths = SafePaths(groupOf: configuration.groupFile)
    return [reason { _ = try configuration.safePaths() }].compactMap(\.self)
      + directories.compactMap { path in reason { _ = try paths.directory(path) } }
  }

  /// Why something is unsafe; nil if it is safe, or away.
  private static func reason(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch {
      return (error as? UnsafePath)?.description
    }
  }

  /// Whether all users may write there. They cannot if they may not search the parent directory.
  private static func isOpenToOthers(_ path: String) throws -> Bool {
    guard let status = try FileStatus.of(path), status.mode & 0o002 != 0 else { return false }
    let parent = String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    let mode = try FileStatus.of(parent.isEmpty ? "/" : parent)?.mode ?? 0
    return mode & 0o001 != 0
  }
}
