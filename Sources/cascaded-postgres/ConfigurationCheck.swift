internal import CascadeStore
internal import CascadeSystem
internal import Daemon
internal import DaemonProgram
internal import Glibc
internal import PostgresStore

/// `--check-config`: judges models, without serving them.
enum ConfigurationCheck {
  /// Checks all that is given, even after a failure. Only the database of a `--model` has to be there.
  static func run(_ options: Options) -> CInt {
    var results = options.operands.map { operand in judge(operand) { try check(operand) } }
    if let directory = options.directory {
      results.append(judge(directory) { try check(directory) })
    }
    if let model = options.model {
      results.append(
        judge(model) {
          try hold(model)
          return "good"
        })
    }
    return results.max() ?? EX_OK
  }

  private static func check(_ operand: String) throws -> String {
    if try FileStatus.of(operand)?.kind == .directory {
      _ = try Configuration.directory(operand).read(for: .check, by: Command.engine)
      return "good"
    }
    do {
      try hold(operand)
      return "good"
    } catch let error as StoreAway {
      return "good by itself; it was not held against its database: \(error)"
    }
  }

  /// Holds a model against its database. Only what does not fit makes the model bad.
  private static func hold(_ file: String) throws {
    for store in try Configuration.model(file).read(for: .check, by: Command.engine) {
      let judgement = try ModelJudgement(
        of: store.model, at: store.path, limit: Command.mostListed)
      Command.say(judgement.findings, judgement.references)
      if !judgement.problems.isEmpty { throw ConfigurationError(file, judgement.problems) }
    }
  }

  /// What is good is told to a terminal only.
  private static func judge(_ name: String, _ body: () throws -> String) -> CInt {
    do {
      let text = try body()
      return StandardStream.output.isTerminal ? Command.say("\(name): \(text)") : EX_OK
    } catch {
      Command.complain(error is ConfigurationError ? "\(error)" : "\(name): \(error)")
      return Command.exitStatus(error)
    }
  }
}
