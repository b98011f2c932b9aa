package import CascadeModel
package import CascadeStore
internal import CascadeEngine
internal import CascadeSystem

/// What a daemon serves. It is read from files at the start, and again at each reload.
package enum Configuration: Sendable {
  /// A database. Its model is in the given file, or else beside the database.
  case store(String, model: String?)
  /// The store that a model file names.
  case model(String)
  /// The stores of all models in a directory.
  case directory(String)

  /// Whether a model is refused that another user could have written. Who only checks models may
  /// be another user than the daemon.
  package enum Purpose: Sendable { case check, service }

  /// Reads the whole configuration, or throws an error that lists everything that is wrong.
  package func read(
    for purpose: Purpose, by engine: any StoreEngine
  ) throws -> [StoreConfiguration] {
    switch self {
    case .store(let path, let file):
      let path = path.isDatabaseURI ? path : try Process.absolutePath(path)
      let model = try Configuration.model(of: path, named: file)
      try engine.refuse(path, model, of: file ?? path)
      let hasModel = try file != nil || FileStatus.isThere(StoreConfiguration.modelFile(of: path))
      return [StoreConfiguration(path: path, model: model, hasModel: hasModel)]
    case .model(let file): return try Configuration.stores(of: file, purpose, engine, creates: true)
    case .directory(let directory):
      let (stores, errors) = try Configuration.stores(in: directory, purpose, engine)
      if !errors.isEmpty { throw ConfigurationError(joining: errors) }
      return stores
    }
  }

  /// The stores that can be served, and what is wrong with the others.
  struct ReadResult {
    let stores: [StoreConfiguration]
    let complaints: [String]
  }

  /// The models of many stores, as they are now.
  func templates() -> [StoreTemplate] {
    let files: [String] =
      switch self {
      case .store: []
      case .model(let file): [file]
      case .directory(let directory): (try? Configuration.models(in: directory)) ?? []
      }
    return files.compactMap { file in
      guard let model = try? StoreModel.read(file, SafePaths(groupOf: file)), model.stores != nil
      else { return nil }
      return StoreTemplate(file: file, model: model)
    }
  }

  /// Reads what is valid. Of many models, an invalid one does not keep the others from being
  /// served.
  func readValid(by engine: any StoreEngine) throws -> ReadResult {
    guard case .directory(let directory) = self else {
      return ReadResult(stores: try read(for: .service, by: engine), complaints: [])
    }
    let (stores, errors) = try Configuration.stores(in: directory, .service, engine)
    if stores.isEmpty && !errors.isEmpty { throw ConfigurationError(joining: errors) }
    return ReadResult(stores: stores, complaints: errors.flatMap(\.complaints))
  }

  private static let noStore = ModelProblem(
    path: "store", message: "missing: name the database file")

  private static func model(of store: String, named file: String?) throws -> StoreModel {
    let paths = SafePaths(groupOf: store)
    if let file { return try StoreModel.read(file, paths) }
    let beside = StoreConfiguration.modelFile(of: store)
    return try FileStatus.isThere(beside) ? try StoreModel.read(beside, paths) : .empty
  }

  /// The stores of a model file: one, or all that match. A database with tables of the application is not created,
  /// because that is left to the application.
  private static func stores(
    of file: String, _ purpose: Purpose, _ engine: any StoreEngine, creates: Bool? = nil
  ) throws -> [StoreConfiguration] {
    let first = try StoreModel.read(file)
    if let pattern = first.stores {
      try engine.refuse(pattern, first, of: file)
      let model =
        try purpose == .check ? first : StoreModel.read(file, SafePaths(groupOf: file))
      return try StoreTemplate(file: file, model: model).stores
    }
    let (store, model) = try model(naming: file, first, purpose, engine)
    return [StoreConfiguration(path: store, model: model, creates: creates ?? !model.hasTables)]
  }

  /// The model of a file, and the store that it names. It is read twice, because the store's group
  /// may write it.
  private static func model(
    naming file: String, _ first: StoreModel, _ purpose: Purpose, _ engine: any StoreEngine
  ) throws -> (store: String, StoreModel) {
    guard let store = first.store else { throw ConfigurationError(file, [noStore]) }
    try engine.refuse(store, first, of: file)
    if purpose == .check { return (store, first) }
    let model = try StoreModel.read(file, SafePaths(groupOf: first.groupFile ?? store))
    guard model.store == store else {
      throw ConfigurationError(
        file, [ModelProblem(path: "store", message: "it changed while it was read")])
    }
    return (store, model)
  }

  // MARK: - A directory of models

  /// The paths of the models, in the order of their names.
  private static func models(in directory: String) throws -> [String] {
    let names = try Directory.open(directory).names().map(\.description)
    return names.filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }.sorted()
      .map { "\(directory)/\($0)" }
  }

  private static func stores(
    in directory: String, _ purpose: Purpose, _ engine: any StoreEngine
  ) throws -> ([StoreConfiguration], [ConfigurationError]) {
    var found: [(file: String, store: StoreConfiguration)] = []
    var errors: [ConfigurationError] = []
    for file in try models(in: directory) {
      do {
        let stores = try stores(of: file, purpose, engine)
        for store in stores {
          let others = found.filter { $0.store.template == nil || $0.file != file }
          try refuseDuplicates(store, of: file, among: others)
          try refuseSharedRoots(store, of: file, among: others)
        }
        found += stores.map { (file, $0) }
      } catch let error as ConfigurationError {
        errors.append(error)
      } catch let error as UnsafePath {
        errors.append(ConfigurationError(file, error))
      } catch let error as SystemError {
        errors.append(ConfigurationError(file, [ModelProblem(path: "", message: "\(error)")]))
      }
    }
    return (found.map(\.store), errors)
  }

  /// Refuses a second model for the same database or spool. If its directory cannot be entered now,
  /// the store is opened later, and its lock refuses it then.
  private static func refuseDuplicates(
    _ store: StoreConfiguration, of file: String,
    among others: [(file: String, store: StoreConfiguration)]
  ) throws(ConfigurationError) {
    let shared: [(KeyPath<StoreConfiguration, String>, member: String, problem: String)] = [
      (\.path, "store", "is for the same database"), (\.spoolPath, "spool", "has the same spool"),
    ]
    for (path, member, problem) in shared {
      let twin = others.first {
        (try? FileStatus.areSame($0.store[keyPath: path], store[keyPath: path])) ?? false
      }
      guard let twin else { continue }
      throw ConfigurationError(
        file, [ModelProblem(path: member, message: "\(twin.file) \(problem)")])
    }
  }
}

extension Configuration {
  /// Refuses file roots that two stores share. Neither store knows the files that the other
  /// references, and both number their batches in the trash 1, 2, 3.
  private static func refuseSharedRoots(
    _ store: StoreConfiguration, of file: String,
    among others: [(file: String, store: StoreConfiguration)]
  ) throws(ConfigurationError) {
    for (root, path) in store.model.files.sorted(by: { $0.key < $1.key }) {
      let twin = others.first { $0.store.model.files.values.contains { overlap($0, path) } }
      guard let twin else { continue }
      throw ConfigurationError(
        file,
        [
          ModelProblem(
            path: "files.\(root)",
            message: "\(twin.file) has files there too: a sweep of one store would remove "
              + "files that the other references"
          )
        ])
    }
  }

  private static func overlap(_ one: String, _ other: String) -> Bool {
    one.isWithin(other) || other.isWithin(one) || (try? FileStatus.areSame(one, other)) ?? false
  }
}

/// Model files that cannot be used, with all reasons.
package struct ConfigurationError: Error, CustomStringConvertible {
  package let complaints: [String]
  /// Whether the files are refused only because another user could have written them.
  package private(set) var isOfUnsafePaths = false

  init(_ file: String, _ error: UnsafePath) {
    complaints = ["\(file): \(error)"]
    isOfUnsafePaths = true
  }

  package init(_ file: String, _ problems: [ModelProblem]) {
    complaints = problems.map { problem in
      problem.path.isEmpty
        ? "\(file): \(problem.message)" : "\(file): \(problem.path): \(problem.message)"
    }
  }

  init(joining errors: [ConfigurationError]) {
    complaints = errors.flatMap(\.complaints)
    isOfUnsafePaths = errors.allSatisfy(\.isOfUnsafePaths)
  }

  package var description: String { complaints.joined(separator: "\n") }
}

extension StoreEngine {
  /// Throws what this engine cannot serve.
  package func refuse(_ path: String, _ model: StoreModel, of file: String) throws {
    let problems = objections(to: path, model)
    if !problems.isEmpty { throw ConfigurationError(file, problems) }
  }
}

extension StoreModel {
  /// A database of a server has no group: what belongs to it is in the spool.
  fileprivate var groupFile: String? { store?.isDatabaseURI == true ? spool : nil }

  /// Reads and checks a model file.
  package static func read(_ file: String) throws -> StoreModel {
    try read(file, FileDescriptor.open(file))
  }

  /// The same, if no other user could have written the file.
  static func read(_ file: String, _ paths: SafePaths) throws -> StoreModel {
    do {
      return try read(file, paths.file(file))
    } catch let error as SystemError where error.isAbsence {
      // What was asked for is the file, whichever directory above it is missing.
      throw SystemError(code: error.code, call: error.call, path: file)
    }
  }

  private static func read(
    _ file: String, _ descriptor: consuming FileDescriptor
  ) throws -> StoreModel {
    guard let bytes = try descriptor.readWhole(limit: 16 << 20) else {
      throw ConfigurationError(file, [ModelProblem(path: "", message: "larger than 16 MiB")])
    }
    do {
      return try StoreModel(json5: bytes)
    } catch {
      throw ConfigurationError(file, error.problems)
    }
  }
}
