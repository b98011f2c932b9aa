internal import CascadePostgres
internal import CascadeStore
internal import CascadeSystem
internal import Daemon
internal import DaemonProgram
internal import Glibc
internal import PostgresStore

/// The command line of the daemon for PostgreSQL.
enum Command: DaemonProgram {
  static let name = "cascaded-postgres"
  static let engine: any StoreEngine = PostgresEngine()
  static let operand = "FILE"
  static let checkable = "a FILE or DIR"

  static let usage = """
    usage: cascaded-postgres [--socket PATH] --model FILE
           cascaded-postgres [--socket PATH] --config DIR
           cascaded-postgres --check-config FILE... | DIR
           cascaded-postgres --check-config --model FILE
           cascaded-postgres --detach --model FILE
           cascaded-postgres --version | --help

    Serves PostgreSQL databases as cascaded serves SQLite files: applies the change files of
    their spools, runs the rules of their models, and answers cascadectl. A model names its
    database and its spool. SIGHUP reads the models again.

      --model FILE     the model; its `store` is postgresql:///DATABASE?host=DIRECTORY
      --config DIR     serves the database of every *.json model in DIR
      --socket PATH    the control socket; default: control in the spool, or the one that
                       systemd passes
      --check-config   checks model files, or a directory of them, and exits; a FILE also against
                       its database, which is only read, and has to be there for a --model
      --detach         removes everything of Cascade's from a database that no daemon serves
    """

  static func configuration(_ options: Options) throws -> Configuration {
    if !options.operands.isEmpty { throw UsageError("the model names the database") }
    switch (options.model, options.directory) {
    case (let model?, nil): return .model(try Process.absolutePath(model))
    case (nil, let directory?): return try configuration(of: directory, options)
    default: throw UsageError("give one of --model FILE and --config DIR")
    }
  }

  static func check(_ options: Options) -> CInt { ConfigurationCheck.run(options) }

  static func detach(_ options: Options) throws -> CInt {
    guard let file = options.model, options.operands.isEmpty, options.directory == nil else {
      throw UsageError("--detach takes --model FILE, and nothing else")
    }
    let store = try Configuration.model(file).read(for: .check, by: engine)[0].path
    return say(detached: store, try engine.detach(store))
  }

  nonisolated static func engineStatus(_ error: any Error) -> CInt? {
    (error as? PostgresError).map { $0.isNotAllowed ? EX_NOPERM : EX_TEMPFAIL }
  }
}
