internal import CascadeInspect
internal import CascadeStore
internal import CascadeModel
internal import CascadeSystem
internal import Daemon
internal import DaemonProgram
internal import Glibc
internal import SQLiteStore

/// The command line of the daemon.
enum Command: DaemonProgram {
  static let name = "cascaded"
  static let engine: any StoreEngine = SQLiteEngine()
  static let operand = "STORE.db"
  static let checkable = "a FILE, DIR or STORE.db"

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

  static func configuration(_ options: Options) throws -> Configuration {
    if options.operands.count > 1 { throw UsageError("give one store, or --config DIR") }
    if let directory = options.directory {
      if options.model != nil || !options.operands.isEmpty {
        throw UsageError("--config takes no store and no --model")
      }
      return try configuration(of: directory, options)
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

  static func check(_ options: Options) -> CInt { ConfigurationCheck.run(options) }

  static func detach(_ options: Options) throws -> CInt {
    guard options.operands.count == 1, options.directory == nil, options.model == nil,
      options.socket == nil
    else { throw UsageError("--detach takes one STORE.db, and nothing else") }
    let store = options.operands[0]
    if try FileStatus.of(store) == nil {
      complain("cascaded: there is no store \(store)")
      return EX_UNAVAILABLE
    }
    return say(detached: store, try OfflineDetachment.run(engine, store))
  }

  nonisolated static func engineStatus(_ error: any Error) -> CInt? {
    guard let error = error as? InspectError else { return nil }
    return switch error.kind {
    case .missing: EX_UNAVAILABLE
    case .noDatabase: EX_DATAERR
    case .notAllowed: EX_NOPERM
    case .busy, .unreadable: EX_TEMPFAIL
    }
  }
}
