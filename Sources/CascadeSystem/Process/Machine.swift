internal import Glibc

/// The machine that the process runs on.
package enum Machine {
  /// Distinguishes this machine from others, and stays the same across restarts.
  package static let identity: String = {
    let bytes = (try? FileDescriptor.open("/etc/machine-id").readWhole(limit: 4096)) ?? []
    return bytes.isEmpty ? hostName : String(decoding: bytes, as: UTF8.self)
  }()

  private static var hostName: String {
    var bytes = [UInt8](repeating: 0, count: 256)
    let result = unsafe bytes.withUnsafeMutableBytes {
      unsafe gethostname($0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count - 1)
    }
    return result == 0 ? String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) : ""
  }
}
