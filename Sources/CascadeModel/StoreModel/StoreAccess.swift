/// The user or the group, by name or number, that may see and command a store on a socket that others share. Root, the
/// daemon's user and the store's owner always may.
package enum StoreAccess: Hashable, Sendable {
  case user(String)
  case group(String)
}

struct StoreAccessReader {
  static func read(_ entry: ModelValue) -> StoreAccess? {
    guard let fields = Fields(entry, ["user", "group"]) else { return nil }
    let (user, group) = (fields["user"], fields["group"])
    if let user {
      group?.addProblem("\"group\" has no meaning beside \"user\"")
      return name(user).map(StoreAccess.user)
    }
    guard let group else {
      entry.addProblem("says neither \"user\" nor \"group\"")
      return nil
    }
    return name(group).map(StoreAccess.group)
  }

  private static func name(_ entry: ModelValue) -> String? {
    if case .integer(let number) = entry.json, number >= 0 { return "\(number)" }
    return entry.name("a name")
  }
}
