internal import CascadeModel
internal import CascadePostgres
internal import CascadeStore
internal import CascadeSystem
internal import Daemon
internal import Glibc
internal import PostgresStore
internal import SystemdService

/// The command line of the daemon for PostgreSQL.
enum Command {
  static let usage = """
    usage: cascaded-postgres [--socket PATH] --model FILE
           cascaded-postgres [--socket PATH] --config DIR
           cascaded-postgres --check-config FILE... | DIR
           cascaded-postgres --detach --model FILE
           cascaded-postgres --version | --help

    Serves PostgreSQL databases as cascaded serves SQLite files: applies the change files of
    their spools, runs the rules of their models, and answers cascadectl. A model names its
    database and its spool. SIGHUP reads the models again.

      --model FILE     the model; its `store` is postgresql:///DATABASE?host=DIRECTORY
      --config DIR     serves the database of every *.json model in DIR
      --socket PATH    the control socket; default: control in the spool, or the one that
                       systemd passes
      --check-config   checks model files, or a directory of them, and exits
      --detach         removes everything of Cascade's from a database that no daemon serves
    """

  /// `arguments` is nil if an argument is not valid text.
  static func run(_ arguments: [String]?) -> CInt {
    do {
      guard let arguments else { throw UsageError("an argument is not UTF-8") }
      return try perform(try Options(arguments))
    } catch let error as UsageError {
      complain("cascaded-postgres: \(error.text)\n\(usage)")
      return EX_USAGE
    } catch let error as ConfigurationError {
      complain(error.description)
      return exitStatus(error)
    } catch {
      complain("cascaded-postgres: \(error)")
      return exitStatus(error)
    }
  }

  private static func perform(_ options: Options) throws -> CInt {
    if options.wantsHelp { return try say(usage) }
    if options.wantsVersion { return try say("cascaded-postgres \(Release.version)") }
    if options.checksConfiguration { return check(options) }
    if options.detaches { return try detach(options) }
    return try serve(options)
  }

  private static func serve(_ options: Options) throws -> CInt {
    let daemon = try Daemon(
      PostgresEngine(), configuration(options), socketPath: options.socket)
    return EventLoop.run {
      do {
        try await daemon.run()
        return EX_OK
      } catch {
        Log.write(.error, "cascaded-postgres: \(error)")
        return exitStatus(error)
      }
    }
  }

  private static func configuration(_ options: Options) throws -> Configuration {
    if !options.operands.isEmpty { throw UsageError("the model names the database") }
    switch (options.model, options.directory) {
    case (let model?, nil): return .model(try Process.absolutePath(model))
    case (nil, let directory?):
      if options.socket == nil && Process.environment("LISTEN_FDS") == nil {
        throw UsageError("--config needs --socket PATH if systemd passes no socket")
      }
      return .directory(try Process.absolutePath(directory))
    default: throw UsageError("give one of --model FILE and --config DIR")
    }
  }

  // MARK: - Without serving

  /// Checks all that is given, even after a failure.
  private static func check(_ options: Options) -> CInt {
    let given = options.operands + [options.model, options.directory].compactMap(\.self)
    return given.map(check).max() ?? 0
  }

  private static func check(_ operand: String) -> CInt {
    do {
      let isDirectory = try FileStatus.of(operand)?.kind == .directory
      let configuration =
        isDirectory ? Configuration.directory(operand) : Configuration.model(operand)
      _ = try configuration.read(for: .check, by: PostgresEngine())
      return 0
    } catch {
      complain("\(error)")
      return exitStatus(error)
    }
  }

  private static func detach(_ options: Options) throws -> CInt {
    guard let file = options.model, options.operands.isEmpty, options.directory == nil else {
      throw UsageError("--detach takes --model FILE, and nothing else")
    }
    let stores = try Configuration.model(file).read(for: .check, by: PostgresEngine())
    let report = try PostgresEngine().detach(stores[0].path)
    let removed = [
      (report.triggers.count, "trigger", "triggers"), (report.tables.count, "table", "tables"),
    ].filter { $0.0 > 0 }.map { "removed \($0.0.counted($0.1, $0.2))" }
    let lines = removed.isEmpty ? ["nothing to remove"] : removed
    return try say((["detached \(stores[0].path)"] + lines).joined(separator: "\n  "))
  }

  // MARK: - Results

  nonisolated static func exitStatus(_ error: any Error) -> CInt {
    switch error {
    case let error as SystemError:
      if error.isNotAllowed { return EX_NOPERM }
      return error.isAbsence || error.code == EISDIR ? EX_NOINPUT : EX_TEMPFAIL
    case let error as ConfigurationError: return error.isOfUnsafePaths ? EX_NOPERM : EX_CONFIG
    case let error as PostgresError: return error.isNotAllowed ? EX_NOPERM : EX_TEMPFAIL
    case is UnsafePath: return EX_NOPERM
    default: return error is StoreError ? EX_DATAERR : EX_TEMPFAIL
    }
  }

  private static func say(_ text: String) throws -> CInt {
    try StandardStream.output.writeAll(text + "\n")
    return EX_OK
  }

  private static func complain(_ text: String) { StandardStream.error.write(text + "\n") }
}
