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
           cascaded [--socket PATH] --config DIR
           cascaded --check-config FILE... | DIR | STORE.db
           cascaded --version | --help

    Serves SQLite stores: applies the change files of their spools, runs their rules, and answers
    cascadectl. One store needs no configuration: everything beside its database is in
    STORE.db.cascade/. SIGHUP reads the models again.

      --model FILE     the model; default: STORE.db.cascade/model.json, if it is there;
                       without a STORE.db, the model names it
      --config DIR     serves the store of every *.json model in DIR
      --socket PATH    the control socket; default: STORE.db.cascade/control, or the one that
                       systemd passes
      --check-config   judges model files, those of a directory, or a store's, and exits
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
    if let directory = options.directory { return check(.directory(directory)) }
    if let model = options.model { return check([model]) }
    var status = EX_OK
    for operand in options.operands {
      let isDirectory = try FileStatus.of(operand)?.kind == .directory
      let one = try isDirectory ? check(.directory(operand)) : check(modelFiles(operand))
      status = max(status, one)
    }
    return status
  }

  private static func check(_ configuration: Configuration) -> CInt {
    do {
      _ = try configuration.read()
      return EX_OK
    } catch {
      complain("\(error)")
      return EX_CONFIG
    }
  }

  private static func check(_ files: [String]) -> CInt {
    var status = EX_OK
    for file in files {
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
  private static func modelFiles(_ operand: String) throws -> [String] {
    let beside = StoreConfiguration.modelFile(of: operand)
    if try FileStatus.of(beside) != nil { return [beside] }
    var head: [UInt8] = []
    _ = try? FileDescriptor.open(operand).read(into: &head, upTo: 16)
    return head == Array("SQLite format 3\0".utf8) ? [] : [operand]
  }

  private static func serve(_ options: Options) throws -> CInt {
    let configuration = try configuration(options)
    // What is wrong with it is told before anything is begun.
    _ = try configuration.readWhatIsGood()
    let daemon = Daemon(configuration, socketPath: options.socket)
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
    if options.operands.count > 1 { throw UsageError("one store, please, or --config DIR") }
    if let directory = options.directory {
      if options.model != nil || !options.operands.isEmpty {
        throw UsageError("--config takes no store and no --model")
      }
      return .directory(try Process.absolutePath(directory))
    }
    let model = try options.model.map(Process.absolutePath)
    if let store = options.operands.first { return .store(store, model: model) }
    guard let model, try StoreModel.read(model).store != nil else {
      throw UsageError("which store?")
    }
    return .model(model)
  }

  private nonisolated static func exitStatus(_ error: any Error) -> CInt {
    if let error = error as? SystemError {
      return error.isNotAllowed ? EX_NOPERM : error.isMissing ? EX_NOINPUT : EX_TEMPFAIL
    }
    if error is ConfigurationError { return EX_CONFIG }
    if error is HarmfulOwnership { return EX_NOPERM }
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
    if checksConfiguration && operands.isEmpty && model == nil && directory == nil {
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
