internal import CascadeKit
internal import Glibc
internal import CascadeModel
internal import CascadeSystem
internal import Zstandard
internal import CascadeVarlink

/// Exit statuses in addition to those of sysexits.h.
enum Status {
  static let found: CInt = 1
  static let held: CInt = 3
  static let denied: CInt = 4
}

enum Program {
  /// `arguments` is nil if an argument is not valid text.
  static func run(_ arguments: [String]?) -> CInt {
    do {
      guard let arguments else { throw UsageError("an argument is not UTF-8") }
      return try perform(Arguments(arguments))
    } catch let error as UsageError {
      return complain(error.text + "; see cascadectl --help", EX_USAGE)
    } catch let error as Failure {
      return complain(error.text, error.status)
    } catch let error as VarlinkClientError {
      return complain(Failure(error))
    } catch let error as SystemError {
      return complain("\(error)", error.isNotAllowed ? EX_NOPERM : EX_NOINPUT)
    } catch let error as ZstdError {
      return complain("\(error)", EX_DATAERR)
    } catch {
      return complain("\(error)", EX_SOFTWARE)
    }
  }

  private static func perform(_ arguments: Arguments) throws -> CInt {
    var arguments = arguments
    if arguments.wantsVersion { return try say("cascadectl \(Release.version)") }
    if arguments.wantsHelp { return try say(Usage.text) }
    guard let name = arguments.command() else { throw UsageError("a command is missing") }
    let output = Output(json: arguments.json, quiet: arguments.quiet)
    if let command = Commands.local[name] { return try command(&arguments)(output) }
    if let command = Commands.live[name] {
      let live = try command(&arguments)
      return try live { [arguments] in try connect(arguments) }
    }
    guard let command = Commands.all[name] else {
      let names = Commands.names
      let hint = nearest(name, in: names).map { ", did you mean \($0)?" }
      throw UsageError("unknown command \(name)\(hint ?? "")")
    }
    let prepared = try command(&arguments)
    var client = try connect(arguments)
    return try prepared(&client, output)
  }

  private static func connect(_ arguments: Arguments) throws -> ControlClient {
    let socket = try Socket.path(arguments)
    // If a socket is also given, the store selects one of that daemon's stores.
    let store = try Socket.isOfStore(arguments) ? nil : arguments.store.map(Process.absolutePath)
    do {
      return try ControlClient(socket: socket, store: store)
    } catch .system(let error) where error.isNotAllowed {
      throw Failure("this user may not use \(socket)", EX_NOPERM)
    } catch {
      // Whoever names a socket knows what listens there, which may be a daemon of another engine.
      let isNamed = arguments.socket != nil || arguments.instance != nil
      let start = isNamed ? "Start it" : "Start `cascaded STORE.db`"
      throw Failure(
        "no daemon answers on \(socket): is \(isNamed ? "it" : "cascaded") running? \(start), or name "
          + "another socket by --store, --instance or --socket", EX_TEMPFAIL)
    }
  }

  private static func say(_ text: String) throws -> CInt {
    try Output.write(text + "\n")
    return EX_OK
  }

  private static func complain(_ failure: Failure) -> CInt {
    complain(failure.text, failure.status)
  }

  private static func complain(_ text: String, _ status: CInt) -> CInt {
    if !text.isEmpty { Output.complain("cascadectl: \(text)") }
    return status
  }
}

/// Finds the daemon's socket.
enum Socket {
  static func path(_ arguments: Arguments) throws -> String {
    if [arguments.socket, arguments.instance].count(where: { $0 != nil }) > 1 {
      throw UsageError("use only one of --socket and --instance")
    }
    if let socket = arguments.socket { return socket }
    if let instance = arguments.instance { return "/run/cascaded/\(instance)/io.cascaded.Control" }
    guard let store = arguments.store, try isOfStore(arguments) else {
      return Process.environment("CASCADE_SOCKET") ?? "/run/cascaded/io.cascaded.Control"
    }
    if try FileStatus.of(store) == nil {
      throw Failure("there is no store \(store)", EX_UNAVAILABLE)
    }
    return own(store)
  }

  private static func own(_ store: String) -> String { "\(store).cascade/control" }

  /// Whether the socket is the one beside the store, whose daemon serves only that store. With a
  /// socket from an option, or else from the environment, the daemon may serve many stores.
  static func isOfStore(_ arguments: Arguments) throws -> Bool {
    guard let store = arguments.store, arguments.socket == nil, arguments.instance == nil
    else { return false }
    return try Process.environment("CASCADE_SOCKET") == nil || FileStatus.of(own(store)) != nil
  }
}

/// A failure, with its exit status.
struct Failure: Error, CustomStringConvertible {
  let text: String
  let status: CInt
  var description: String { text }

  init(_ text: String, _ status: CInt) {
    self.text = text
    self.status = status
  }

  init(_ error: VarlinkClientError) {
    guard case .refused(let error) = error else {
      self.init("lost the connection to the daemon: \(error)", EX_TEMPFAIL)
      return
    }
    let parameters = error.parameters
    let reason = parameters["reason"]?.string?.printable ?? ""
    switch error.name.split(separator: ".").last ?? "" {
    case "NoSuchStore":
      let store = parameters["store"]?.string?.printable ?? ""
      self.init("no such store: \(store)", EX_UNAVAILABLE)
    case "NoSuchThing":
      self.init("there is no \(parameters["what"]?.string?.printable ?? "")", EX_DATAERR)
    case "Unusable":
      // What was sent of a file is no argument, nor is what a program has remembered.
      let isData = ["data", "where", "after"].contains(parameters["parameter"]?.string)
      self.init(reason, isData ? EX_DATAERR : EX_USAGE)
    case "Unavailable": self.init(reason, EX_TEMPFAIL)
    case "Misconfigured":
      let complaints = parameters["complaints"]?.array?.compactMap(\.string?.printable) ?? []
      self.init(
        "nothing was changed:\n" + complaints.map { "  \($0)" }.joined(separator: "\n"), EX_CONFIG)
    case "PermissionDenied": self.init("not allowed", EX_NOPERM)
    default: self.init("the daemon replied \(error)", EX_PROTOCOL)
    }
  }
}
