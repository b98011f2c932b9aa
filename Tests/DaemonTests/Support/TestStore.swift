import CascadeKit
import Glibc
import CascadeModel
import CascadeSQLite
import CascadeSystem

/// A store in a directory of its own, and the daemon that serves it.
final class TestStore {
  let scratch: Scratch
  let name: String
  private var daemon: Subprocess?
  /// At its end when the daemon is.
  private var life: FileDescriptor?

  /// The daemon's, where it is not the machine's.
  var clock: SetClock?
  /// What is under the daemon, where system calls fail.
  var faults: Faults?

  var path: String { scratch.path(name) }
  var spool: String { "\(path).cascade" }
  var socket: String { "\(spool)/control" }
  var identifier: pid_t { daemon!.identifier }

  /// A daemon runs, unless it is wanted later. The application's tables are there first.
  init(
    model: String? = nil, schema: String? = nil, name: String = "store.db", starts: Bool = true
  ) throws {
    scratch = try Scratch()
    self.name = name
    if let schema { try sql("PRAGMA journal_mode = WAL; \(schema)") }
    if let model { try write(model: model) }
    if starts { try start() }
  }

  func write(model: String) throws {
    let directory = try Directory.openOrMake(spool)
    _ = try directory.remove("model.json")
    try directory.file("model.json", .createNew).writeAll(Array(model.utf8))
  }

  // MARK: - The daemon

  /// Returns when it answers.
  func start(_ arguments: [String] = [], under command: [String] = []) throws {
    try launch(arguments, under: command)
    try waitUntil("cascaded answers", limit: .seconds(30)) {
      (try? UnixSocket.connect(socket)) != nil
    }
    try waitUntil("the store was looked through") { try state() != "starting" }
  }

  /// The command runs the program that its arguments name.
  func launch(_ arguments: [String] = [], under command: [String] = []) throws {
    let output = try Pipe()
    let input = try FileDescriptor.open("/dev/null")
    let log = try FileDescriptor.open(scratch.path("log"), .append)
    daemon = try Subprocess(
      command + [Programs.cascaded] + arguments + [path],
      environment: (clock?.environment ?? []) + (faults?.environment ?? []), input: input,
      output: output.writing, error: log)
    life = output.takeReading()
  }

  /// Sends a signal, and waits for the end.
  @discardableResult
  func end(_ signal: CInt = SIGTERM, limit: Duration = .seconds(30)) throws -> Subprocess.Ending {
    let daemon = daemon!
    daemon.send(signal)
    let isOver = try life!.waitBlocking(
      for: .readable, milliseconds: Int(limit.components.seconds) * 1_000)
    self.daemon = nil
    if !isOver { throw TooLate(description: "signal \(signal) did not end cascaded:\n\(log)") }
    return daemon.wait()
  }

  /// Nil while it runs.
  var ending: Subprocess.Ending? { daemon!.hasEnded ? daemon!.wait() : nil }

  var log: String { (try? scratch.directory.text("log")) ?? "" }

  /// Looks again and again; a daemon that ends meanwhile is a failure at once.
  func waitUntil(
    _ what: String, limit: Duration = .seconds(60), _ condition: () throws -> Bool
  ) throws {
    try Deadline(limit).wait(for: what, log: log) { time in
      let milliseconds = Int(time / .milliseconds(1))
      return try life?.waitBlocking(for: .readable, milliseconds: milliseconds) == true
    } until: {
      try condition()
    }
  }

  // MARK: - Asking it

  @discardableResult
  func ctl(_ arguments: String..., input: String = "") throws -> Outcome {
    try run([Programs.cascadectl, "--store", path] + arguments, input: input)
  }

  /// Applies a change file from its text, and expects it to be applied.
  func apply(_ text: String) throws {
    let outcome = try ctl("apply", "-", input: text)
    if outcome.status != 0 { throw TooLate(description: outcome.output + outcome.error) }
  }

  func client() throws -> ControlClient { try ControlClient(socket: socket) }

  /// What an application does: SQLite's own shell. Its output is returned.
  @discardableResult
  func sql(_ text: String) throws -> String {
    let outcome = try shell(text)
    if outcome.status != 0 { throw TooLate(description: "sqlite3: \(outcome.error)") }
    return outcome.output
  }

  func shell(_ text: String) throws -> Outcome {
    try run(["/usr/bin/sqlite3", "-bail", "-cmd", ".timeout 5000", path, text])
  }

  /// The only store of the status.
  func status() throws -> JSON {
    let status = try run([Programs.cascadectl, "--socket", socket, "--json", "status"])
    return try status.json["stores"]?.array?.first ?? .null
  }

  func state() throws -> String { try status()["state"]?.string ?? "" }

  func wait(forState state: String) throws {
    try waitUntil("it is \(state)") { try self.state() == state }
  }

  // MARK: - Its files

  func directory(_ name: String) throws -> Directory { try Directory.open("\(spool)/\(name)") }

  /// As a producer does it: written elsewhere, and renamed into the queue.
  func enqueue(_ name: FileName, _ text: String) throws { try enqueue(name, Array(text.utf8)) }

  func enqueue(_ name: FileName, _ bytes: [UInt8]) throws {
    let temporary = try directory("tmp")
    let file = try temporary.file("producer", .createNew)
    try file.writeAll(bytes)
    try temporary.rename("producer", to: try directory("new"), as: name)
  }

  func count(in name: String) throws -> Int { try directory(name).names().count }

  /// How many clients are connected: the kernel lists their sockets beside the listening one.
  func connections() throws -> Int {
    let sockets = try kernelText("net/unix").split(separator: "\n")
    return sockets.count(where: { $0.hasSuffix(" \(socket)") }) - 1
  }

  func waitUntilIdle(limit: Duration = .seconds(60)) throws {
    try waitUntil("the queue is empty", limit: limit) { try count(in: "new") == 0 }
  }

  /// What another program sees in the store.
  func integers(_ sql: StaticString) throws -> [Int64] {
    try database().all(sql) { $0.integer(0) }
  }

  func texts(_ sql: StaticString) throws -> [String] {
    try database().all(sql) { $0.text(0) }
  }

  private func database() throws -> Connection {
    let database = try Connection(path: path, access: .readOnly)
    database.setBusyTimeout(milliseconds: 5_000)
    return database
  }
}
