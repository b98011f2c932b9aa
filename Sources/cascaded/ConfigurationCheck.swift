internal import CascadeInspect
internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import Daemon
internal import DaemonProgram
internal import SQLiteStore

/// `--check-config`: judges models, without serving them.
enum ConfigurationCheck {
  /// Checks all that is given, even after a failure.
  static func run(_ options: Options) -> CInt {
    var results: [CInt] = []
    if let directory = options.directory {
      results.append(judge(directory) { try read(directory) })
    }
    if let model = options.model { results.append(check(model, for: options.operands)) }
    // Without databases, what is given beside a model is judged alone.
    let others = options.operands.filter { options.model == nil || !isDatabase($0) }
    results += others.map { operand in judge(operand) { try read(operand) } }
    return results.max() ?? 0
  }

  private static func check(_ file: String, for operands: [String]) -> CInt {
    let stores = operands.filter(isDatabase)
    var model = StoreModel.empty
    let status = judge(file, isSilent: !stores.isEmpty) { model = try readModel(file) }
    if status != 0 { return status }
    return stores.map { store in
      judge("\(file) for \(store)") { try judge(model, of: file, for: store) }
    }.max() ?? 0
  }

  /// Whether an operand beside a model is a database that the model is for.
  private static func isDatabase(_ operand: String) -> Bool {
    !operand.hasSuffix(".json") && (try? FileStatus.of(operand)?.kind) != .directory
  }

  /// Reads a directory of models, a model file, or the model beside a store.
  private static func read(_ operand: String) throws {
    if try FileStatus.of(operand)?.kind == .directory {
      _ = try Configuration.directory(operand).read(for: .check, by: SQLiteEngine())
      return
    }
    let beside = StoreConfiguration.modelFile(of: operand)
    if try FileStatus.of(beside) != nil {
      _ = try readModel(beside)
    } else if try hasDatabaseHeader(operand) {
      throw ConfigurationError(
        operand,
        [
          ModelProblem(
            path: "",
            message: "there is no model beside it: `cascadectl suggest \(operand)` prints one for "
              + beside)
        ])
    } else {
      _ = try readModel(operand)
    }
  }

  private static func readModel(_ file: String) throws -> StoreModel {
    let model = try StoreModel.read(file)
    if let store = model.store { try SQLiteEngine().refuse(store, model, of: file) }
    return model
  }

  private static func hasDatabaseHeader(_ path: String) throws -> Bool {
    var head: [UInt8] = []
    _ = try FileDescriptor.open(path).read(into: &head, upTo: 16)
    return head == Array("SQLite format 3\0".utf8)
  }

  private static func judge(
    _ name: String, isSilent: Bool = false, _ body: () throws -> Void
  ) -> CInt {
    do {
      try body()
      if isSilent || !StandardStream.output.isTerminal { return 0 }
      return Command.say("\(name): good")
    } catch {
      let isNamed =
        error is ConfigurationError || error is InspectError || (error as? SystemError)?.path != nil
      Command.complain(isNamed ? "\(error)" : "\(name): \(error)")
      return Command.exitStatus(error)
    }
  }

  // MARK: - A model for a database

  /// Lists what the daemon would find. Only what does not fit makes the model bad.
  private static func judge(_ model: StoreModel, of file: String, for store: String) throws {
    let judgement = try Inspect.reading(store) { db in
      try ModelJudgement(of: model, for: db, at: store, limit: Command.mostListed)
    }
    Command.say(judgement.findings, judgement.references)
    if !judgement.problems.isEmpty { throw ConfigurationError(file, judgement.problems) }
  }
}
