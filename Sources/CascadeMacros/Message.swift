#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Darwin)
  internal import Darwin
#endif

/// Messages from and to the compiler, on standard input and output.
enum Message {
  /// The next message; nil at the end of the conversation.
  static func receive() -> Request? {
    guard let header = read(8) else { return nil }
    let count = header.reversed().reduce(0) { $0 << 8 | Int($1) }
    guard count > 0, let payload = read(count) else { return nil }
    return try? JSONDecoder().decode(Request.self, from: Data(payload))
  }

  static func send(_ reply: Reply) {
    guard let payload = try? JSONEncoder().encode(reply) else { exit(70) }
    write((0..<8).map { UInt8(truncatingIfNeeded: payload.count >> ($0 * 8)) } + payload)
  }

  private static func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let part = unsafe bytes.withUnsafeMutableBytes {
        unsafe platformRead(0, $0.baseAddress! + done, count - done)
      }
      if part <= 0 { return nil }
      done += part
    }
    return bytes
  }

  private static func write(_ bytes: [UInt8]) {
    var done = 0
    while done < bytes.count {
      let part = unsafe bytes.withUnsafeBytes {
        unsafe platformWrite(1, $0.baseAddress! + done, bytes.count - done)
      }
      if part <= 0 { exit(74) }
      done += part
    }
  }
}

// In `Message`, the functions of the C library are hidden by those of the same names.
private let platformRead = unsafe read
private let platformWrite = unsafe write
