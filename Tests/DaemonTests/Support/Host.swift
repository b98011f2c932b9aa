import CascadeKit
import Glibc
import CascadeModel
import CascadeSystem

/// A daemon that serves the models of a directory.
final class Host {
  let scratch: Scratch
  private var daemon: Subprocess?
  /// At its end when the daemon is.
  private var life: FileDescriptor?

  var socket: String { scratch.path("control") }
  var models: String { scratch.path("models") }
  var log: String { (try? scratch.directory.text("log")) ?? "" }

  init() throws {
    scratch = try Scratch()
    _ = try Directory.openOrMake(models)
  }

  func path(_ store: String) -> String { scratch.path("\(store).db") }

  /// Writes the model of a store; what is said of it beside its path is JSON5.
  func model(_ store: String, _ text: String = "") throws {
    try write("\(store).json", "{ store: \"\(path(store))\", \(text) }")
  }

  func write(_ file: String, _ text: String) throws {
    let directory = try Directory.open(models)
    _ = try directory.remove(FileName(file))
    try directory.file(FileName(file), .createNew).writeAll(Array(text.utf8))
  }

  func remove(_ file: String) throws { _ = try Directory.open(models).remove(FileName(file)) }

  /// The command runs the program that its arguments name.
  func start(under command: [String] = []) throws {
    let output = try Pipe()
    let input = try FileDescriptor.open("/dev/null")
    let log = try FileDescriptor.open(scratch.path("log"), .append)
    daemon = try Subprocess(
      command + [Programs.cascaded, "--config", models, "--socket", socket], input: input,
      output: output.writing, error: log)
    life = output.takeReading()
    try waitUntil("it answers") { (try? UnixSocket.connect(socket)) != nil }
  }

  var openFiles: String {
    get throws { try run(["/bin/ls", "-l", "/proc/\(daemon!.identifier)/fd"]).output }
  }

  func send(_ signal: CInt) { daemon!.send(signal) }

  func end() throws -> Subprocess.Ending {
    send(SIGTERM)
    if try !life!.waitBlocking(for: .readable, milliseconds: 30_000) {
      throw TooLate(description: "SIGTERM did not end cascaded:\n\(log)")
    }
    return daemon!.wait()
  }

  func waitUntil(_ what: String, _ condition: () throws -> Bool) throws {
    try Deadline(.seconds(30)).wait(for: what, log: log) { time in
      try life!.waitBlocking(for: .readable, milliseconds: Int(time / .milliseconds(1)))
    } until: {
      try condition()
    }
  }

  func ctl(_ arguments: String..., input: String = "") throws -> Outcome {
    try run([Programs.cascadectl, "--socket", socket] + arguments, input: input)
  }

  func ctl(of store: String, _ arguments: String..., input: String = "") throws -> Outcome {
    try run(
      [Programs.cascadectl, "--socket", socket, "--store", path(store)] + arguments, input: input)
  }

  /// By store, its state and why.
  func states() throws -> [String: String] {
    let stores = try ctl("--json", "status").json["stores"]?.array ?? []
    return Dictionary(
      uniqueKeysWithValues: stores.map {
        ($0["store"]?.string ?? "", $0["state"]?.string ?? "")
      })
  }

  func wait(for store: String, toBe state: String?) throws {
    try waitUntil("\(store) is \(state ?? "gone")") { try states()[path(store)] == state }
  }
}
