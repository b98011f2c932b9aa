import CascadeSystem
import Glibc

/// SQLite's own shell, as another process that keeps a transaction open.
final class Shell {
  private let input: FileDescriptor
  private let output: FileDescriptor
  private let identifier: pid_t

  init(_ path: String) throws {
    var ends = (input: [CInt](), output: [CInt]())
    try FileDescriptor.withPipe { ends.input = [$0.release(), $1.release()] }
    try FileDescriptor.withPipe { ends.output = [$0.release(), $1.release()] }
    for end in ends.input + ends.output { _ = fcntl(end, F_SETFL, 0) }
    identifier = try Shell.spawn(path, reading: ends.input[0], writing: ends.output[1])
    input = FileDescriptor(owning: ends.input[1])
    output = FileDescriptor(owning: ends.output[0])
    close(ends.input[0])
    close(ends.output[1])
  }

  deinit {
    kill(identifier, SIGKILL)
    reap(identifier)
  }

  /// Runs statements, and returns when they are done.
  func say(_ text: String) throws {
    try input.writeAll(Array("\(text)\nSELECT 'done';\n".utf8))
    var answer: [UInt8] = []
    while !String(decoding: answer, as: UTF8.self).hasSuffix("done\n") {
      if try output.read(into: &answer, upTo: 4_096) == 0 { throw Failure(description: text) }
    }
  }

  private static func spawn(_ path: String, reading: CInt, writing: CInt) throws -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, reading, 0)
    unsafe posix_spawn_file_actions_adddup2(&actions, writing, 1)
    let shell = "/usr/bin/sqlite3"
    let words = [shell, "-bail", path]
    let strings = unsafe words.map { unsafe strdup($0) } + [nil]
    defer { unsafe strings.forEach { unsafe free($0) } }
    var identifier: pid_t = 0
    let code = unsafe posix_spawn(&identifier, shell, &actions, nil, strings, environ)
    if code != 0 { throw SystemError(code: code, call: "posix_spawn", path: shell) }
    return identifier
  }
}
