/// Reads a whole model file. A part with a problem is read as far as possible, so that parts that
/// refer to it are still checked against what was meant.
struct ModelReader {
  private static let keys = [
    "store", "spool", "exclusive", "strict", "collections", "relationships", "files", "roots",
    "sweeps", "limits", "trash", "keep", "keepDeleted", "secureDelete", "archive",
    "access", "stores",
  ]

  private let file: ModelValue

  init(_ file: ModelValue) { self.file = file }

  func read() -> StoreModel {
    guard let fields = Fields(file, Self.keys) else { return .empty }
    var model = StoreModel()
    model.store = fields["store"]?.storeLocation()
    model.stores = fields["stores"]?.absolutePath()
    if model.stores != nil {
      fields["store"]?.addProblem("\"store\" has no meaning beside \"stores\"")
      file.problems.allowsRelativePaths = true
    }
    model.spool = fields["spool"]?.absolutePath()
    model.exclusive = fields["exclusive"]?.bool() ?? false
    model.strict = fields["strict"]?.bool()
    model.access = fields["access"].flatMap(StoreAccessReader.read)
    model.keepsAllDeleted = fields["keepDeleted"]?.bool() ?? false
    fields["collections"].map { CollectionReader($0).read(into: &model) }
    fields["files"].map { FileRootsReader().read($0, into: &model) }
    let names = DeclaredNames(model)
    fields["relationships"].map {
      model.relationships = RelationshipsReader(names).read($0)
    }
    checkFetched(fields["collections"], names)
    model.roots = fields["roots"].map { readRoots($0, names) } ?? []
    SettingsReader(fields).read(into: &model)
    if model.stores != nil {
      for root in model.sharedRoots {
        fields["files"]?.member(root)?.addProblem(
          "all stores would share it: say a path that is relative to each store's directory")
      }
    }
    return model
  }

  private func readRoots(_ entry: ModelValue, _ names: DeclaredNames) -> [String] {
    (entry.elements("a list of collections") ?? []).compactMap(names.collection)
  }

  /// Checks the collections of fetched properties, now that all are known. A collection of another
  /// store is not checked.
  private func checkFetched(_ collections: ModelValue?, _ names: DeclaredNames) {
    for (_, collection) in collections?.objectMembers ?? [] {
      for (_, property) in collection.member("fetched")?.objectMembers ?? []
      where property.member("store") == nil {
        property.member("from").map { _ = names.collection($0) }
      }
    }
  }
}

/// The names that other parts of the file may refer to.
struct DeclaredNames {
  /// The names of collections, and of types within them.
  private let collections: [String]
  private let mapped: [String: [String]]
  private let roots: [String]
  private let strict: Bool

  init(_ model: StoreModel) {
    collections = (Array(model.collections.keys) + model.typeNames.keys).sorted()
    mapped = model.collections.compactMapValues {
      if case .mapped(_, let key, _) = $0 { key } else { nil }
    }
    roots = model.files.keys.sorted()
    strict = model.strict == true
  }

  /// Reads a collection's name. Only in a strict model must it be declared.
  func collection(_ entry: ModelValue) -> String? {
    guard let name = entry.string("a collection"), entry.checkName(name: name, of: "collection")
    else { return nil }
    if strict, !collections.contains(name) {
      entry.addProblem(unknown("collection", name, among: collections))
    }
    return name
  }

  func root(_ entry: ModelValue) -> String? {
    guard let name = entry.name("a file root") else { return nil }
    if !roots.contains(name) { entry.addProblem(unknown("file root", name, among: roots)) }
    return name
  }

  /// The key columns of a mapped collection.
  func key(of collection: String) -> [String]? { mapped[collection] }

  /// Requires that a collection is a table, for an edge in a column or a join table.
  func requireTable(_ collection: String, for place: ModelValue, _ what: String) {
    guard mapped[collection] == nil else { return }
    let near = nearest(collection, in: mapped.keys.sorted()).map { "; did you mean \"\($0)\"?" }
    place.addProblem(
      "\(what) needs a table, and collection \"\(collection)\" has none\(near ?? "")")
  }

  /// Requires a key of as many columns as the reference has.
  func requireKey(of collection: String, like columns: [String], for place: ModelValue) {
    let key = mapped[collection] ?? [""]
    if columns.isEmpty || key.isEmpty || columns.count == key.count { return }
    let held = columns.count == 1 ? "one column" : "\(columns.count) columns"
    let needed = key.count == 1 ? "one column" : "\(key.count) columns"
    let hint = key.count == 1 ? "" : ": list one for each of \(key.joined(separator: ", "))"
    place.addProblem("\(held) cannot hold the key of \(needed) of \"\(collection)\"\(hint)")
  }
}

extension ModelValue {
  /// Checks a name by the rule for names of collections, which file roots share.
  @discardableResult
  func checkName(name: String, of what: String) -> Bool {
    if name.isEmpty {
      addProblem("a \(what)'s name may not be empty")
    } else if name.contains("/") || name.utf8.contains(0) {
      addProblem("a \(what)'s name may not contain \(name.contains("/") ? "\"/\"" : "a NUL")")
    } else if name.hasPrefix("cascade_") {
      addProblem("a \(what)'s name may not begin with \"cascade_\"")
    } else {
      return true
    }
    return false
  }

  /// A column, or a list of columns. `what` has them.
  func columns(of what: String) -> [String] {
    if case .string = json { return name("a column").map { [$0] } ?? [] }
    let entries = elements("a column or a list of columns") ?? []
    if case .array(let list) = json, list.isEmpty { addProblem("\(what) needs a column") }
    var columns: [String] = []
    for entry in entries {
      guard let column = entry.name("a column") else { continue }
      // SQLite's names do not depend on case.
      if columns.contains(where: { $0.folded == column.folded }) {
        entry.addProblem("column \"\(column)\" is listed twice")
      }
      columns.append(column)
    }
    return columns
  }

  /// An absolute path, without slashes at its end.
  func absolutePath() -> String? {
    guard var path = name("a path") else { return nil }
    guard path.hasPrefix("/") || problems.allowsRelativePaths else {
      addProblem("\"\(path)\" is not an absolute path")
      return nil
    }
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    return path
  }

  /// A database file, or the URI of a server's database, which its engine judges.
  func storeLocation() -> String? {
    if case .string(let text) = json, text.isDatabaseURI { return text }
    return filePath()
  }

  func filePath() -> String? {
    guard let path = absolutePath() else { return nil }
    if case .string(let text) = json, text.hasSuffix("/") {
      addProblem("\"\(text)\" is a directory")
    }
    return path
  }
}

extension String {
  /// Whether a store is the database of a server, and not a file.
  package var isDatabaseURI: Bool { hasPrefix("postgresql://") || hasPrefix("postgres://") }
}
