import CascadeModel
import CascadeSystem

/// Says exactly the bytes it is told to, and blocks.
struct RawClient: ~Copyable {
  let descriptor: FileDescriptor
  private var received: [UInt8] = []

  init(_ path: String) throws { descriptor = try UnixSocket.connect(path) }

  /// "\0" ends a message.
  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      if let count = try descriptor.send(bytes, from: sent) {
        sent += count
      } else {
        try descriptor.waitBlocking(for: .writable, milliseconds: 10_000)
      }
    }
  }

  /// The next message; nil when the server has closed the connection.
  mutating func receive() throws -> String? {
    while true {
      if let end = received.firstIndex(of: 0) {
        defer { received.removeFirst(end + 1) }
        return String(decoding: received[..<end], as: UTF8.self)
      }
      if try !fill() { return nil }
    }
  }

  mutating func receiveAll() throws -> [String] {
    var messages: [String] = []
    while let message = try receive() { messages.append(message) }
    return messages
  }

  private mutating func fill() throws -> Bool {
    do {
      if let count = try descriptor.read(into: &received, upTo: 1 << 16) { return count > 0 }
    } catch let error where error.isDisconnection {
      return false
    }
    guard try descriptor.waitBlocking(for: .readable, milliseconds: 10_000) else {
      throw SystemError(code: 110, call: "no answer")
    }
    return true
  }
}
