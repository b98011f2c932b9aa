internal import CascadeCSystem
internal import Glibc

/// Runs another program to its end. It inherits the output streams and the environment.
package enum ChildProcess {
  /// Finds the program by PATH, as a shell does. Returns its exit status, or 128 plus the number of
  /// the signal that ended it.
  package static func run(
    _ program: String, _ arguments: [String], input: [UInt8]
  ) throws(SystemError) -> CInt {
    let raw = try checked("memfd_create") { cascade_memory_file() }
    let file = FileDescriptor(owning: raw)
    try file.writeAll(input)
    try file.rewind()
    return try wait(for: spawn([program] + arguments, input: file.raw))
  }

  /// The same. Also returns what it wrote.
  package static func output(
    of program: String, _ arguments: [String], input: [UInt8]
  ) throws(SystemError) -> (status: CInt, bytes: [UInt8]) {
    let file = FileDescriptor(owning: try checked("memfd_create") { cascade_memory_file() })
    try file.writeAll(input)
    try file.rewind()
    let output = FileDescriptor(owning: try checked("memfd_create") { cascade_memory_file() })
    let child = try spawn([program] + arguments, input: file.raw, output: output.raw)
    let status = try wait(for: child)
    try output.rewind()
    return (status, try output.readWhole(limit: .max) ?? [])
  }

  private static func spawn(
    _ arguments: [String], input: CInt, output: CInt? = nil
  ) throws(SystemError) -> pid_t {
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    if let output { unsafe posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO) }
    var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var identifier: pid_t = 0
    let result = unsafe posix_spawnp(
      &identifier, words[0]!, &actions, nil, &words, cascade_environment())
    if result != 0 { throw SystemError(code: result, call: "posix_spawn", path: arguments[0]) }
    return identifier
  }

  private static func wait(for identifier: pid_t) throws(SystemError) -> CInt {
    var status: CInt = 0
    _ = try checked("waitpid") { unsafe waitpid(identifier, &status, 0) }
    let signal = status & 0x7f
    return signal == 0 ? status >> 8 & 0xff : 128 + signal
  }
}
