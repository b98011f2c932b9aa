import CascadeModel
import CascadePostgres
import CascadeSystem
import Glibc
import PostgresSupport

/// A database, and the cascaded-postgres that serves it.
final class PostgresDaemon {
  let scratch: Scratch
  let database: Database
  private var daemon: Subprocess?
  private static let program = {
    Programs.cascaded + "-postgres"
  }()

  var spool: String { scratch.path("spool") }
  var modelFile: String { scratch.path("model.json") }

  init(model: String, schema: String) throws {
    scratch = try Scratch()
    database = try Database(schema: schema)
    let head = "{ store: \"\(database.location)\", spool: \"\(scratch.path("spool"))\", "
    try scratch.write("model.json", head + model.dropFirst())
    try start()
  }

  func start() throws {
    daemon = try launch(["--model", modelFile])
    try waitUntil("it is served") {
      let stores = try? ctl("--json", "status").json["stores"]?.array
      return stores?.first?["state"]?.string == "ok"
    }
  }

  private func launch(_ arguments: [String]) throws -> Subprocess {
    let output = try FileDescriptor.open("/dev/null", .readWrite(create: false))
    return try Subprocess(
      [PostgresDaemon.program] + arguments, input: FileDescriptor.open("/dev/null"),
      output: output, error: FileDescriptor.open(scratch.path("log"), .append))
  }

  func kill() {
    daemon?.send(SIGKILL)
    _ = daemon?.wait()
    daemon = nil
  }

  func stop() {
    daemon?.send(SIGTERM)
    _ = daemon?.wait()
    daemon = nil
  }

  static func run(_ arguments: [String]) throws -> Outcome {
    try DaemonTests.run([program] + arguments)
  }

  @discardableResult
  func ctl(_ arguments: String..., input: String = "") throws -> Outcome {
    try DaemonTests.run(
      [Programs.cascadectl, "--socket", "\(spool)/control"] + arguments, input: input)
  }

  func bySQL(_ sql: String) throws { try database.session().execute(sql) }
  func texts(_ sql: String) throws -> [String] { try database.session().run(sql).texts }

  func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
    let deadline = Deadline(.seconds(30))
    while try !condition() {
      if deadline.isOver || daemon?.hasEnded == true {
        let log = (try? scratch.directory.text("log")) ?? ""
        throw TooLate(description: "not in time: \(what)\n\(log)")
      }
      SystemClock.sleep(for: .milliseconds(3))
    }
  }
}
