internal import Glibc

/// What this process uses of what the system lets it use.
package struct ProcessUse: Sendable {
  package let descriptors: Int
  package let mostDescriptors: Int
  package let threads: Int

  /// Nil where /proc cannot be read.
  package static var now: ProcessUse? {
    guard let descriptors = count("/proc/self/fd"), let threads = count("/proc/self/task")
    else { return nil }
    return ProcessUse(
      descriptors: descriptors, mostDescriptors: mostDescriptors, threads: threads)
  }

  /// How many descriptors more can be had. None where not even the directory that tells can be opened.
  package static var freeDescriptors: Int {
    max(0, mostDescriptors - (count("/proc/self/fd") ?? mostDescriptors))
  }

  private static func count(_ directory: String) -> Int? {
    try? Directory.open(directory).entries().countVisible()
  }

  package static var mostDescriptors: Int {
    var limit = rlimit()
    _ = unsafe getrlimit(CInt(RLIMIT_NOFILE.rawValue), &limit)
    return Int(clamping: limit.rlim_cur)
  }
}
