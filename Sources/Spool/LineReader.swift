internal import CascadeModel
internal import CascadeSystem

/// Reads the lines of a file one at a time. Memory is bounded by the longest line.
struct LineReader: ~Copyable {
  private let file: FileDescriptor
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  private var print = Fingerprint()
  /// The fingerprint of the whole file, once it was read to its end.
  private(set) var fingerprint: Int64?
  /// The number of the line that was read last.
  private(set) var number = 0

  private static let chunk = 256 << 10
  static let longestLine = 64 << 20

  init(_ file: consuming FileDescriptor) { self.file = file }

  /// Calls `body` with the next line, without its line end; returns nil after the last line.
  mutating func next<T>(_ body: (Span<UInt8>, Int) throws -> T) throws -> T? {
    guard let end = try findEnd() else { return nil }
    number += 1
    // The last line need not end with a newline.
    defer { start = min(end + 1, buffer.count) }
    var last = end
    if last > start && buffer[last - 1] == UInt8(ascii: "\r") { last -= 1 }
    return try body(buffer.span.extracting(start..<last), number)
  }

  mutating func rewind() throws {
    try file.rewind()
    buffer.removeAll(keepingCapacity: true)
    start = 0
    isAtEnd = false
    number = 0
    print = Fingerprint()
  }

  /// Reads on to the end, only for the fingerprint.
  mutating func readToEnd() throws {
    while !isAtEnd {
      start = buffer.count
      try fill()
    }
  }

  mutating func skip(lines: Int) throws {
    while number < lines, try next({ _, _ in true }) != nil {}
  }

  /// The end of the next line: at a newline or at the end of the file.
  private mutating func findEnd() throws -> Int? {
    var searched = start
    while true {
      if let newline = newline(from: searched) { return newline }
      if isAtEnd { return start < buffer.count ? buffer.count : nil }
      searched = buffer.count - start
      try fill()
    }
  }

  private func newline(from index: Int) -> Int? {
    buffer.span.firstNewline(from: index)
  }

  private mutating func fill() throws {
    buffer.removeSubrange(..<start)
    start = 0
    if buffer.count > LineReader.longestLine { throw SpoolFault.tooLarge("a line is longer than") }
    let got = try file.read(into: &buffer, upTo: LineReader.chunk) ?? 0
    var print = print
    print.add(buffer.span.extracting(buffer.count - got..<buffer.count))
    self.print = print
    isAtEnd = got == 0
    if isAtEnd { fingerprint = print.signed }
  }
}
