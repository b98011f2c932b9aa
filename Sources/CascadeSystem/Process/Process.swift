internal import CascadeCSystem
internal import Glibc

/// What a program asks about itself and its surroundings.
package enum Process {
  /// What the program is called with. Nil where some of it is not UTF-8: with a sign in the place of what
  /// is wrong, it would be the name of something else.
  package static var arguments: [String]? {
    var arguments: [String] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = unsafe CommandLine.unsafeArgv[index],
        let text = unsafe String(validatingCString: argument)
      else { return nil }
      arguments.append(text)
    }
    return arguments
  }

  package static func environment(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(cString: value)
  }

  package static var identifier: Int32 { getpid() }
  package static var userIdentifier: UInt32 { geteuid() }
  package static var groupIdentifier: UInt32 { getegid() }

  package static func randomBytes(_ count: Int) throws(SystemError) -> [UInt8] {
    precondition(count <= 256, "more may come in parts")
    var bytes = [UInt8](repeating: 0, count: count)
    _ = try checked("getrandom") { unsafe getrandom(&bytes, count, 0) }
    return bytes
  }

  /// Gives freed memory back to the system. Takes a millisecond: for when nothing else is to do.
  package static func trimMemory() { _ = malloc_trim(0) }

  /// As many descriptors as the administrator allows: the usual limit is for programs that use
  /// select().
  package static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard unsafe getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// One heap for all threads. One for each of them, as is usual, keeps room for what each once needed;
  /// and of ours few work at the same time.
  package static func shareHeap() { mallopt(M_ARENA_MAX, 1) }

  package static func workingDirectory() throws(SystemError) -> String {
    guard let path = unsafe getcwd(nil, 0) else { throw SystemError(code: errno, call: "getcwd") }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  /// A path that means the same to others, and whatever becomes of the working directory.
  package static func absolutePath(_ path: String) throws(SystemError) -> String {
    path.hasPrefix("/") ? path : "\(try workingDirectory())/\(path)"
  }
}
