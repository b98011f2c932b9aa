import Glibc
import CascadeSystem

/// A program that was started. It ends with its owner.
final class Subprocess {
  /// How a program ended.
  enum Ending: Hashable {
    case exit(CInt)
    case signal(CInt)
  }

  let identifier: pid_t
  private var ending: Ending?

  /// The first argument is the program's path. The environment is what is given, and nothing else.
  init(
    _ arguments: [String], environment: [String] = [], directory: String? = nil,
    input: borrowing FileDescriptor, output: borrowing FileDescriptor,
    error: borrowing FileDescriptor
  ) throws {
    let actions = Actions([input.raw, output.raw, error.raw])
    // env(1) becomes the program, with the same number.
    let change = directory.map { ["/usr/bin/env", "-C", $0] } ?? []
    identifier = try actions.spawn(change + arguments, environment)
  }

  deinit {
    send(SIGKILL)
    _ = wait()
  }

  /// To a program that has ended, nothing is sent: its number may be another's by now.
  func send(_ signal: CInt) {
    if ending == nil { kill(identifier, signal) }
  }

  /// Whether it has ended, at once.
  var hasEnded: Bool { reap(WNOHANG) != nil }

  /// Blocks until it has ended.
  func wait() -> Ending { reap(0)! }

  private func reap(_ options: CInt) -> Ending? {
    if let ending { return ending }
    var status: CInt = 0
    var result: pid_t = -1
    repeat {
      unsafe result = waitpid(identifier, &status, options)
    } while result < 0
      && errno == EINTR
    if result == 0 { return nil }
    let signal = status & 0x7f
    ending = signal == 0 ? Ending.exit(status >> 8 & 0xff) : .signal(signal)
    return ending
  }
}

/// What happens between fork and exec. Signals are as a program expects them.
@safe
private final class Actions {
  private var files = unsafe posix_spawn_file_actions_t()
  private var attributes = posix_spawnattr_t()

  init(_ descriptors: [CInt]) {
    unsafe posix_spawn_file_actions_init(&files)
    for (number, descriptor) in descriptors.enumerated() {
      unsafe posix_spawn_file_actions_adddup2(&files, descriptor, CInt(number))
    }
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_init(&attributes)
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
  }

  deinit {
    unsafe posix_spawn_file_actions_destroy(&files)
    unsafe posix_spawnattr_destroy(&attributes)
  }

  func spawn(_ arguments: [String], _ environment: [String]) throws -> pid_t {
    var identifier: pid_t = 0
    let result = unsafe withCStrings(arguments) { argv in
      unsafe withCStrings(environment) { envp in
        unsafe posix_spawn(&identifier, argv[0]!, &files, &attributes, argv, envp)
      }
    }
    if result != 0 { throw SystemError(code: result, call: "posix_spawn", path: arguments[0]) }
    return identifier
  }

  private func withCStrings(
    _ strings: [String],
    _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> CInt
  ) -> CInt {
    var pointers = unsafe strings.map { unsafe strdup($0) } + [nil]
    defer { unsafe pointers.forEach { unsafe free($0) } }
    return unsafe body(&pointers)
  }
}
