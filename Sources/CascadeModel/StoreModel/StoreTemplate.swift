/// A model for every database whose path matches a pattern. Other paths in it are relative to each store's directory.
extension StoreModel {
  /// The model of one of them. `match` is what the first `*` of the pattern stood for.
  package func placed(at store: String, matching match: String) -> StoreModel {
    let directory = store[..<(store.lastIndex(of: "/") ?? store.startIndex)]
    func placed(_ path: String) -> String { path.hasPrefix("/") ? path : "\(directory)/\(path)" }
    var model = self
    model.stores = nil
    model.spool = spool.map(placed)
    model.archive = archive.map(placed)
    model.files = files.mapValues(placed)
    model.access = access?.replacingStar(with: match)
    return model
  }

  /// What the first `*` of a pattern stands for in a path that matches it; the whole name if there is none.
  package static func match(of path: String, by pattern: String) -> String {
    let (parts, patterns) = (path.split(separator: "/"), pattern.split(separator: "/"))
    guard let place = patterns.firstIndex(where: { $0.contains("*") }), place < parts.count else {
      return ""
    }
    let star = patterns[place].firstIndex(of: "*")!
    let (before, after) = (
      patterns[place][..<star], patterns[place][patterns[place].index(after: star)...]
    )
    let name = parts[place].dropFirst(before.count)
    return String(after.contains("*") ? name : name.dropLast(after.count))
  }

  /// Roots that all the stores would share. Each would remove files that the others name.
  package var sharedRoots: [String] {
    files.filter { $0.value.hasPrefix("/") }.map(\.key).sorted()
  }
}

extension StoreAccess {
  fileprivate func replacingStar(with match: String) -> StoreAccess {
    func replaced(_ name: String) -> String {
      name.split(separator: "*", omittingEmptySubsequences: false).joined(separator: match)
    }
    return switch self {
    case .user(let name): .user(replaced(name))
    case .group(let name): .group(replaced(name))
    }
  }
}
