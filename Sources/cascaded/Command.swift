internal import CascadeInspect
internal import CascadeStore
internal import CascadeModel
internal import CascadeSystem
internal import Daemon
internal import Glibc
internal import SQLiteStore
internal import SystemdService

/// The command line of the daemon.
enum Command {
  static let usage = """
    usage: cascaded [--model FILE] [--socket PATH] STORE.db
           cascaded [--socket PATH] --model FILE
           cascaded [--socket PATH] --config DIR
           cascaded --check-config FILE... | DIR | STORE.db
           cascaded --check-config --model FILE STORE.db
           cascaded --detach STORE.db
           cascaded --version | --help

    Serves SQLite stores: applies the change files of their spools, runs the rules of their
    models, and answers cascadectl. One store needs no configuration: its spool, its model and
    its socket are in STORE.db.cascade/. SIGHUP reads the models again.

      --model FILE     the model; default: STORE.db.cascade/model.json, if it exists;
                       without a STORE.db, the model names it
      --config DIR     serves the store of every *.json model in DIR
      --socket PATH    the control socket; default: STORE.db.cascade/control, or the one that
                       systemd passes
      --check-config   checks model files, a directory of them, or a store's, and exits; with
                       --model, whether the model fits the database, and what it would meet there
      --detach         removes everything of Cascade's from a database that no daemon serves
    """

  /// `arguments` is nil if an argument is not valid text.
  static func run(_ arguments: [String]?) -> CInt {
    do {
      guard let arguments else { throw UsageError("an argument is not UTF-8") }
      return try perform(try Options(arguments))
    } catch let error as UsageError {
      complain("cascaded: \(error.text)\n\(usage)")
      return EX_USAGE
    } catch let error as ConfigurationError {
      complain(error.description)
      return exitStatus(error)
    } catch {
      complain("cascaded: \(error)")
      return exitStatus(error)
    }
  }

  private static func perform(_ options: Options) throws -> CInt {
    if options.wantsHelp { return say(usage) }
    if options.wantsVersion { return say("cascaded \(Release.version)") }
    if options.checksConfiguration { return ConfigurationCheck.run(options) }
    if options.detaches { return try detach(options) }
    return try serve(options)
  }

  private static func detach(_ options: Options) throws -> CInt {
    guard options.operands.count == 1, options.directory == nil, options.model == nil,
      options.socket == nil
    else { throw UsageError("--detach takes one STORE.db, and nothing else") }
    let store = options.operands[0]
    if try FileStatus.of(store) == nil {
      complain("cascaded: there is no store \(store)")
      return EX_UNAVAILABLE
    }
    let report = try OfflineDetachment.run(SQLiteEngine(), store)
    let removed = [
      (report.triggers, "trigger", "triggers"), (report.tables, "table", "tables"),
      (report.indexes, "index", "indexes"),
    ].filter { !$0.0.isEmpty }.map { "removed \($0.0.count.counted($0.1, $0.2))" }
    let lines = removed.isEmpty ? ["nothing to remove"] : removed
    return say((["detached \(store)"] + lines).joined(separator: "\n  "))
  }

  private static func serve(_ options: Options) throws -> CInt {
    let daemon = try Daemon(SQLiteEngine(), configuration(options), socketPath: options.socket)
    return EventLoop.run {
      do {
        try await daemon.run()
        return EX_OK
      } catch {
        Log.write(.error, "cascaded: \(error)")
        return exitStatus(error)
      }
    }
  }

  private static func configuration(_ options: Options) throws -> Configuration {
    if options.operands.count > 1 { throw UsageError("give one store, or --config DIR") }
    if let directory = options.directory {
      if options.model != nil || !options.operands.isEmpty {
        throw UsageError("--config takes no store and no --model")
      }
      if options.socket == nil && Process.environment("LISTEN_FDS") == nil {
        throw UsageError("--config needs --socket PATH if systemd passes no socket")
      }
      return .directory(try Process.absolutePath(directory))
    }
    let model = try options.model.map(Process.absolutePath)
    if let store = options.operands.first {
      if try FileStatus.of(store)?.kind == .directory {
        throw StoreError("\(store) is a directory: --config serves the models in one")
      }
      return .store(store, model: model)
    }
    guard let model, try StoreModel.read(model).store != nil else {
      throw UsageError("STORE.db is missing")
    }
    return .model(model)
  }

  nonisolated static func exitStatus(_ error: any Error) -> CInt {
    if let error = error as? SystemError {
      if error.isNotAllowed { return EX_NOPERM }
      return error.isAbsence || error.code == EISDIR ? EX_NOINPUT : EX_TEMPFAIL
    }
    if let error = error as? ConfigurationError {
      return error.isOfUnsafePaths ? EX_NOPERM : EX_CONFIG
    }
    if let error = error as? InspectError { return exitStatus(error.kind) }
    if error is HarmfulOwnership || error is UnsafePath { return EX_NOPERM }
    return error is StoreError ? EX_DATAERR : EX_TEMPFAIL
  }

  private nonisolated static func exitStatus(_ kind: InspectError.Kind) -> CInt {
    switch kind {
    case .missing: EX_UNAVAILABLE
    case .noDatabase: EX_DATAERR
    case .notAllowed: EX_NOPERM
    case .busy, .unreadable: EX_TEMPFAIL
    }
  }

  static func say(_ text: String) -> CInt {
    do {
      try StandardStream.output.writeAll(text + "\n")
      return EX_OK
    } catch {
      complain("cascaded: cannot write the output: \(error)")
      return EX_IOERR
    }
  }

  static func complain(_ text: String) { StandardStream.error.write(text + "\n") }
}

struct UsageError: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
  init(_ text: String) { self.text = text }
}

/// The options of the command line.
struct Options {
  var operands: [String] = []
  var model: String?
  var directory: String?
  var socket: String?
  var checksConfiguration = false
  var detaches = false
  var wantsHelp = false
  var wantsVersion = false

  init(_ arguments: [String]) throws {
    var rest = arguments.flatMap(Options.split)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--model": model = try Options.value(of: argument, &rest)
      case "--config": directory = try Options.value(of: argument, &rest)
      case "--socket": socket = try Options.value(of: argument, &rest)
      case "--check-config": checksConfiguration = true
      case "--detach": detaches = true
      case "--help", "-h": wantsHelp = true
      case "--version": wantsVersion = true
      case "--": operands += rest.drain()
      case let option where option.hasPrefix("-") && option != "-":
        throw UsageError("unknown option \(option)")
      default: operands.append(argument)
      }
    }
    if operands.contains("") { throw UsageError("STORE.db is missing") }
    if checksConfiguration && detaches {
      throw UsageError("use only one of --check-config and --detach")
    }
    if checksConfiguration && operands.isEmpty && model == nil && directory == nil {
      throw UsageError("--check-config needs a FILE, DIR or STORE.db")
    }
  }

  /// Splits `--model=FILE` into `--model FILE`.
  private static func split(_ argument: String) -> [String] {
    guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else {
      return [argument]
    }
    return [String(argument[..<equals]), String(argument[argument.index(after: equals)...])]
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst(), !value.isEmpty else {
      throw UsageError("\(option) needs a value")
    }
    return value
  }
}

extension ArraySlice {
  fileprivate mutating func drain() -> ArraySlice {
    defer { self = [] }
    return self
  }
}
