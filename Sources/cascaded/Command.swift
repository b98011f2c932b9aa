internal import Daemon
internal import Glibc
internal import Model
internal import Store
internal import System

/// The command line of the daemon.
enum Command {
  static let usage = """
    usage: cascaded [--model FILE] [--socket PATH] STORE.db
           cascaded [--socket PATH] --model FILE
           cascaded --check-config FILE... | STORE.db
           cascaded --version | --help

    Serves a SQLite store: applies the change files of its spool, runs its rules, and answers
    cascadectl. Needs no configuration: everything beside the database is in STORE.db.cascade/.

      --model FILE     the model; default: STORE.db.cascade/model.json, if it is there;
                       without a STORE.db, the model names it
      --socket PATH    the control socket; default: STORE.db.cascade/control
      --check-config   judges model files, or a store's, and exits
    """

  static func run(_ arguments: [String]) -> CInt {
    do {
      return try perform(try Options(arguments))
    } catch let error as UsageError {
      complain("cascaded: \(error.text)\n\(usage)")
      return EX_USAGE
    } catch let error as ConfigurationError {
      complain(error.description)
      return EX_CONFIG
    } catch {
      complain("cascaded: \(error)")
      return exitStatus(error)
    }
  }

  private static func perform(_ options: Options) throws -> CInt {
    if options.wantsHelp { return say(usage) }
    if options.wantsVersion { return say("cascaded \(Release.version)") }
    if options.checksConfiguration { return try check(options) }
    return try serve(options)
  }

  private static func check(_ options: Options) throws -> CInt {
    let operands = try options.operands.compactMap(modelFile)
    var status = EX_OK
    for file in options.model.map({ [$0] }) ?? operands {
      do {
        _ = try StoreModel.read(file)
      } catch {
        complain(error is ConfigurationError ? "\(error)" : "\(file): \(error)")
        status = EX_CONFIG
      }
    }
    return status
  }

  /// An operand is a model file, or a store that may have one beside it.
  private static func modelFile(_ operand: String) throws -> String? {
    let beside = StoreConfiguration.modelFile(of: operand)
    if try FileStatus.of(beside) != nil { return beside }
    var head: [UInt8] = []
    _ = try? FileDescriptor.open(operand).read(into: &head, upTo: 16)
    return head == Array("SQLite format 3\0".utf8) ? nil : operand
  }

  private static func serve(_ options: Options) throws -> CInt {
    let path = try Process.absolutePath(try store(options))
    let model = try model(for: path, options)
    let daemon = Daemon(
      stores: [StoreConfiguration(path: path, model: model)],
      socketPath: options.socket ?? StoreConfiguration.socket(of: path))
    return EventLoop.run {
      do {
        try await daemon.run(until: [SIGTERM, SIGINT])
        return EX_OK
      } catch {
        Log.write(.error, "cascaded: \(error)")
        return exitStatus(error)
      }
    }
  }

  /// The operand; a model that is named may say it instead.
  private static func store(_ options: Options) throws -> String {
    if options.operands.count > 1 { throw UsageError("one store, please") }
    if let store = options.operands.first { return store }
    guard let store = try options.model.flatMap({ try StoreModel.read($0).store }) else {
      throw UsageError("which store?")
    }
    return store
  }

  private static func model(for store: String, _ options: Options) throws -> StoreModel {
    let file = options.model ?? StoreConfiguration.modelFile(of: store)
    if options.model == nil, try FileStatus.of(file) == nil { return .empty }
    return try StoreModel.read(file)
  }

  private nonisolated static func exitStatus(_ error: any Error) -> CInt {
    if let error = error as? SystemError {
      return error.isNotAllowed ? EX_NOPERM : error.isMissing ? EX_NOINPUT : EX_TEMPFAIL
    }
    return error is StoreError ? EX_DATAERR : EX_TEMPFAIL
  }

  private static func say(_ text: String) -> CInt {
    StandardStream.output.write(text + "\n")
    return EX_OK
  }

  private static func complain(_ text: String) { StandardStream.error.write(text + "\n") }
}

struct UsageError: Error {
  let text: String
  init(_ text: String) { self.text = text }
}

/// What the command line says.
struct Options {
  var operands: [String] = []
  var model: String?
  var socket: String?
  var checksConfiguration = false
  var wantsHelp = false
  var wantsVersion = false

  init(_ arguments: [String]) throws {
    var rest = arguments.flatMap(Options.split)[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--model": model = try Options.value(of: argument, &rest)
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
    if checksConfiguration && operands.isEmpty && model == nil {
      throw UsageError("check which model files?")
    }
  }

  /// `--model=FILE` is `--model FILE`.
  private static func split(_ argument: String) -> [String] {
    guard argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") else {
      return [argument]
    }
    return [String(argument[..<equals]), String(argument[argument.index(after: equals)...])]
  }

  private static func value(of option: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let value = rest.popFirst() else { throw UsageError("\(option) wants a value") }
    return value
  }
}

extension ArraySlice {
  fileprivate mutating func drain() -> ArraySlice {
    defer { self = [] }
    return self
  }
}
