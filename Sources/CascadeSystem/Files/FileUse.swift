internal import CascadeCSystem
internal import Glibc

/// Whether a file is open in any process.
package enum FileUse {
  /// Whether any descriptor is open on the file, in this process or another one. This process must
  /// hold no POSIX lock on the file, because the look drops it.
  package static func isOpen(_ path: String) throws(SystemError) -> Bool {
    let file = try FileDescriptor.open(path)
    switch cascade_is_in_use(file.raw) {
    case 0: return false
    case 1: return true
    default: return isOpenByProcess(try file.status())
    }
  }

  /// Looks through the descriptors of all processes that this one may see. This process has its
  /// own one.
  private static func isOpenByProcess(_ file: FileStatus) -> Bool {
    let own = "\(getpid())"
    let processes = names("/proc").filter { $0 != own && $0.allSatisfy(\.isNumber) }
    return processes.contains { process in
      names("/proc/\(process)/fd").contains { descriptor in
        (try? FileStatus.of("/proc/\(process)/fd/\(descriptor)"))??.isSame(as: file) ?? false
      }
    }
  }

  private static func names(_ path: String) -> [String] {
    ((try? Directory.open(path).names()) ?? []).map(\.description)
  }
}
