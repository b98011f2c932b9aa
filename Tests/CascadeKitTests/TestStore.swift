import CascadeKit
import CascadeModel
import CascadeSystem
import Glibc
import TestSupport

/// A store in a directory of its own, and the daemon that serves it.
final class TestStore: Sendable {
  let scratch: Scratch
  let store: Store
  let path: String
  private let daemon: Process

  /// A daemon runs if it is wanted at once.
  init(
    model: ModelFile? = nil, schema: String = musicSchema, starts: Bool = true,
    author: String = "test"
  ) throws {
    scratch = try Scratch()
    path = scratch.path("store.db")
    store = Store(path, author: author)
    daemon = Process(path, scratch.path("log"))
    try sqlite3(path, schema)
    _ = try Directory.openOrMake(scratch.path("media"))
    let spool = try Directory.openOrMake("\(path).cascade")
    let text = (model ?? musicModel(media: scratch.path("media"))).text
    try spool.file("model.json", .createNew).writeAll(Array(text.utf8))
    if starts { try start() }
  }

  deinit { end(SIGKILL) }

  func start() throws { try daemon.start() }

  func end(_ signal: CInt) { daemon.end(signal) }

  /// What SQLite's own shell prints.
  @discardableResult
  func sql(_ text: String) throws -> String { try sqlite3(path, text) }
}

@discardableResult
func sqlite3(_ path: String, _ text: String) throws -> String {
  try run("/usr/bin/sqlite3", ["-bail", "-cmd", ".timeout 5000", path, text])
}

struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// The programs that were built with the tests.
func program(_ name: String) -> String {
  let tests = CommandLine.arguments[0]
  return "\(tests.lastIndex(of: "/").map { tests[..<$0] } ?? ".")/\(name)"
}

/// Runs a program to its end, and returns what it printed. Throws if its status is not 0.
@discardableResult
func run(_ path: String, _ arguments: [String]) throws -> String {
  let scratch = try Scratch()
  let status = reap(try spawn(path, arguments, output: scratch.path("output")))
  let output = try contents(of: scratch.path("output"))
  if status != 0 { throw Failure(description: "\(path) ended with \(status): \(output)") }
  return output
}

/// Waits for the end of a process, and returns its status.
@discardableResult
func reap(_ process: pid_t) -> CInt {
  var status: CInt = 0
  while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
  return status
}

func contents(of path: String) throws -> String {
  let bytes = try FileDescriptor.open(path).readWhole(limit: 1 << 30) ?? []
  return String(decoding: bytes, as: UTF8.self)
}

/// Starts a program, whose output and errors go to the end of a file.
func spawn(_ path: String, _ arguments: [String], output: String) throws -> pid_t {
  var actions = unsafe posix_spawn_file_actions_t()
  unsafe posix_spawn_file_actions_init(&actions)
  defer { unsafe posix_spawn_file_actions_destroy(&actions) }
  unsafe posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  unsafe posix_spawn_file_actions_addopen(
    &actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
  unsafe posix_spawn_file_actions_adddup2(&actions, 1, 2)
  var attributes = posix_spawnattr_t()
  unsafe posix_spawnattr_init(&attributes)
  defer { unsafe posix_spawnattr_destroy(&attributes) }
  var none = sigset_t()
  unsafe sigemptyset(&none)
  unsafe posix_spawnattr_setsigmask(&attributes, &none)
  unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  let strings = unsafe ([path] + arguments).map { unsafe strdup($0) } + [nil]
  defer { unsafe strings.forEach { unsafe free($0) } }
  var identifier: pid_t = 0
  let code = unsafe posix_spawn(&identifier, path, &actions, &attributes, strings, environ)
  if code != 0 { throw SystemError(code: code, call: "posix_spawn", path: path) }
  return identifier
}

/// Waits for a condition.
func waitUntil(
  _ what: String, limit: Duration = .seconds(30), _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit
  while try await !condition() {
    if ContinuousClock.now > end { throw Failure(description: "not in time: \(what)") }
    try await Task.sleep(for: .milliseconds(5))
  }
}

/// The daemon of a store.
final class Process: Sendable {
  private let path: String
  private let log: String
  private let identifier = Shared<pid_t>(0)

  init(_ path: String, _ log: String) {
    self.path = path
    self.log = log
  }

  /// Returns when it answers.
  func start() throws {
    identifier.value = try spawn(program("cascaded"), [path], output: log)
    let end = ContinuousClock.now + .seconds(30)
    while (try? UnixSocket.connect("\(path).cascade/control")) == nil {
      if ContinuousClock.now > end {
        throw Failure(description: "cascaded does not answer: \((try? contents(of: log)) ?? "")")
      }
      usleep(5_000)
    }
  }

  /// Sends a signal, and waits for the end.
  func end(_ signal: CInt) {
    let number = identifier.value
    if number == 0 { return }
    identifier.value = 0
    kill(number, signal)
    reap(number)
  }
}
