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
           cascaded --version | --help

    Serves SQLite stores: applies the change files of their spools, runs the rules of their
    models, and answers cascadectl. One store needs no configuration: its spool, its model and
    its socket are in STORE.db.cascade/. SIGHUP reads the models again.

      --model FILE     the model; default: STORE.db.cascade/model.json, if it exists;
                       without a STORE.db, the model names it
      --config DIR     serves the store of every *.json model in DIR
      --socket PATH    the control socket; default: STORE.db.cascade/control, or the one that
                       systemd passes
      --check-config   checks model files, a directory of them, or a store's, and exits
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
    if options.checksConfiguration { return check(options) }
    return try serve(options)
  }

  /// Checks all that is given, even after a failure.
  private static func check(_ options: Options) -> CInt {
    var results: [CInt] = []
    if let directory = options.directory { results.append(check(directory: directory)) }
    if let model = options.model { results.append(judge(model) { _ = try StoreModel.read(model) }) }
    // A model that is named belongs to the store.
    let hasModel = options.model != nil
    results += options.operands.map { operand in
      judge(operand) { if try !hasModel || !isDatabase(operand) { try read(operand) } }
    }
    return results.max() ?? EX_OK
  }

  private static func check(directory: String) -> CInt {
    judge(directory) { _ = try Configuration.directory(directory).read(for: .check) }
  }

  /// Reads a directory of models, a model file, or a store that may have a model beside it.
  private static func read(_ operand: String) throws {
    if try FileStatus.of(operand)?.kind == .directory {
      _ = try Configuration.directory(operand).read(for: .check)
      return
    }
    let beside = StoreConfiguration.modelFile(of: operand)
    if try FileStatus.of(beside) != nil {
      _ = try StoreModel.read(beside)
    } else if try !isDatabase(operand) {
      _ = try StoreModel.read(operand)
    }
  }

  private static func judge(_ name: String, _ body: () throws -> Void) -> CInt {
    do {
      try body()
      return EX_OK
    } catch {
      let isNamed = error is ConfigurationError || (error as? SystemError)?.path != nil
      complain(isNamed ? "\(error)" : "\(name): \(error)")
      return exitStatus(error)
    }
  }

  private static func isDatabase(_ path: String) throws -> Bool {
    var head: [UInt8] = []
    _ = try FileDescriptor.open(path).read(into: &head, upTo: 16)
    return head == Array("SQLite format 3\0".utf8)
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

  private nonisolated static func exitStatus(_ error: any Error) -> CInt {
    if let error = error as? SystemError {
      if error.isNotAllowed { return EX_NOPERM }
      return error.isAbsence || error.code == EISDIR ? EX_NOINPUT : EX_TEMPFAIL
    }
    if let error = error as? ConfigurationError {
      return error.isOfUnsafePaths ? EX_NOPERM : EX_CONFIG
    }
    if error is HarmfulOwnership || error is UnsafePath { return EX_NOPERM }
    return error is StoreError ? EX_DATAERR : EX_TEMPFAIL
  }

  private static func say(_ text: String) -> CInt {
    do {
      try StandardStream.output.writeAll(text + "\n")
      return EX_OK
    } catch {
      complain("cascaded: cannot write the output: \(error)")
      return EX_IOERR
    }
  }

  private static func complain(_ text: String) { StandardStream.error.write(text + "\n") }
}

struct UsageError: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

/// The options of the command line.
struct Options {
  var operands: [String] = []
  var model: String?
  var directory: String?
  var socket: String?
  var checksConfiguration = false
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
      case "--help", "-h": wantsHelp = true
      case "--version": wantsVersion = true
      case "--": operands += rest.drain()
      case let option where option.hasPrefix("-") && option != "-":
        throw UsageError("unknown option \(option)")
      default: operands.append(argument)
      }
    }
    if operands.contains("") { throw UsageError("STORE.db is missing") }
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
