internal import CascadeCSystem
internal import Glibc

/// The current process and its environment.
package enum Process {
  /// The arguments of the program. nil if one of them is not UTF-8, because with replacement
  /// characters it would name a different file.
  package static var arguments: [String]? {
    let arguments = argumentBytes.map { String(validating: $0, as: UTF8.self) }
    return arguments.contains(nil) ? nil : arguments.compactMap(\.self)
  }

  package static var argumentBytes: [[UInt8]] {
    var arguments: [[UInt8]] = []
    for index in 1..<max(1, Int(CommandLine.argc)) {
      guard let argument = unsafe CommandLine.unsafeArgv[index] else { break }
      let bytes = unsafe UnsafeRawBufferPointer(start: argument, count: strlen(argument))
      arguments.append(unsafe Array(bytes))
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

  /// Gives freed memory back to the system. Takes a millisecond, so call it when the process is
  /// idle.
  package static func trimMemory() {
    _ = malloc_trim(0)
    _ = cascade_release_code()
  }

  /// Raises the limit of open descriptors to the maximum that the administrator allows. The default
  /// is low for the sake of programs that use select().
  package static func raiseDescriptorLimit() {
    var limit = rlimit()
    guard unsafe getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = unsafe setrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// Uses one heap for all threads. By default each thread has a heap that keeps the memory it once
  /// needed. Here few threads work at the same time, so separate heaps are not needed.
  package static func shareHeap() { mallopt(M_ARENA_MAX, 1) }

  package static func workingDirectory() throws(SystemError) -> String {
    guard let path = unsafe getcwd(nil, 0) else { throw SystemError(code: errno, call: "getcwd") }
    defer { unsafe free(path) }
    return unsafe String(cString: path)
  }

  /// A path that does not depend on the working directory, so that it means the same to other
  /// processes.
  package static func absolutePath(_ path: String) throws(SystemError) -> String {
    path.hasPrefix("/") ? path : "\(try workingDirectory())/\(path)"
  }
}
