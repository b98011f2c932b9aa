import CascadeModel
import CascadePostgres
import CascadeSystem
import Glibc
import PostgresSupport

/// A database, and the cascaded-postgres that serves it.
final class PostgresDaemon {
  let scratch: Scratch
  let database: Database
  private let parameters: String
  private var daemon: Subprocess?
  private static let program = {
    Programs.cascaded + "-postgres"
  }()

  var spool: String { scratch.path("spool") }
  var modelFile: String { scratch.path("model.json") }

  /// Its daemon runs.
  convenience init(model: String, schema: String) throws {
    try self.init(model: model, on: Database(schema: schema))
    try start()
  }

  /// No daemon runs yet. Several may serve a database, each with a spool of its own. `parameters` are
  /// added to its URI.
  init(model: String, on database: Database, parameters: String = "") throws {
    scratch = try Scratch()
    (self.database, self.parameters) = (database, parameters)
    try write(model: model)
  }

  /// A reload reads it.
  func write(model: String) throws {
    let store = database.location + parameters
    let head = "{ store: \"\(store)\", spool: \"\(scratch.path("spool"))\", "
    _ = try? scratch.directory.remove("model.json")
    try scratch.write("model.json", head + model.dropFirst())
  }

  func start() throws {
    try launch()
    try waitUntil("it is served") { try state == "ok" }
    if database.dialect == .portable { try admitWitness() }
  }

  /// A trigger of the tests reads who leads.
  private func admitWitness() throws {
    try database.session(as: "postgres").execute("GRANT SELECT ON cascade.leader TO application")
  }

  func launch() throws {
    let output = try FileDescriptor.open("/dev/null", .readWrite(create: false))
    daemon = try Subprocess(
      [PostgresDaemon.program, "--model", modelFile], input: FileDescriptor.open("/dev/null"),
      output: output, error: FileDescriptor.open(scratch.path("log"), .append))
  }

  /// What `status` says of the store; nil if the daemon does not answer.
  var status: JSON? {
    get throws { (try? ctl("--json", "status").json["stores"]?.array?.first) ?? nil }
  }

  var state: String? { get throws { try status?["state"]?.string } }
  var reason: String { get throws { try status?["reason"]?.string ?? "" } }

  func send(_ signal: CInt) { daemon?.send(signal) }

  func kill() { end(SIGKILL) }
  func stop() { end(SIGTERM) }

  private func end(_ signal: CInt) {
    daemon?.send(signal)
    _ = daemon?.wait()
    daemon = nil
  }

  var log: String { (try? scratch.directory.text("log")) ?? "" }

  // MARK: - The queue

  func enqueue(_ name: FileName, _ text: String) throws {
    let temporary = try Directory.open("\(spool)/tmp")
    try temporary.file("producer", .createNew).writeAll(Array(text.utf8))
    try temporary.rename("producer", to: Directory.open("\(spool)/new"), as: name)
  }

  /// How many files wait.
  var queued: Int { get throws { try Directory.open("\(spool)/new").names().count } }

  static func run(_ arguments: [String]) throws -> Outcome {
    try DaemonTests.run([program] + arguments)
  }

  @discardableResult
  func ctl(_ arguments: String..., input: String = "") throws -> Outcome {
    try DaemonTests.run(
      [Programs.cascadectl, "--socket", "\(spool)/control"] + arguments, input: input)
  }

  func bySQL(_ sql: String) throws { try database.session().execute(sql) }
  func texts(_ sql: String) throws -> [String] {
    try database.session(as: "postgres").run(sql).texts
  }

  func texts(_ sql: String, on node: Cluster.Node) throws -> [String] {
    try database.session(on: node).run(sql).texts
  }

  /// Whether its connection for writing holds the lock, or the term is its own. Connections have names
  /// with the process.
  var leads: Bool {
    get throws {
      guard let daemon else { return false }
      let leader =
        switch database.dialect {
        case .fast:
          """
          SELECT a.application_name AS name FROM pg_locks l JOIN pg_stat_activity a USING (pid)
          WHERE l.locktype = 'advisory' AND l.granted AND a.datname = current_database()
          """
        case .portable:
          """
          SELECT l.holder AS name FROM cascade.leader l JOIN cascade.leader_term t USING (number)
          WHERE t.expires > clock_timestamp()
          """
        }
      return try !texts(
        "SELECT name FROM (\(leader)) l WHERE name LIKE 'cascaded \(daemon.identifier) %'"
      ).isEmpty
    }
  }

  func waitUntil(
    _ what: String, limit: Duration = .seconds(60), _ condition: () throws -> Bool
  ) throws {
    try Deadline(limit).wait(for: what, log: log) { time in
      if daemon?.hasEnded == true { return true }
      SystemClock.sleep(for: time)
      return false
    } until: {
      try condition()
    }
  }
}
