/// The line, column and path of an offset, for messages. They are computed by scanning the text
/// again, and only when there is a fault to report: reading valid files costs nothing for it.
struct SourcePosition {
  let line: Int
  let column: Int
  /// `changes[3].put[1]`; empty for the whole document.
  let path: String

  /// Everything before `offset` must have been scanned without a fault.
  init(of offset: Int, in bytes: Bytes) {
    let end = min(offset, bytes.count)
    var line = 1
    var column = 1
    for index in 0..<end {
      if bytes[index] == 0x0A { (line, column) = (line + 1, 0) }
      if bytes[index] & 0xC0 != 0x80 { column += 1 }
    }
    self.line = line
    self.column = column
    var walk = PathTracker()
    walk.go(to: end, bytes)
    path = walk.path
  }
}

/// Follows strict JSON down to an offset and keeps the path. For JSON5 the line is enough.
private struct PathTracker {
  private enum Level {
    case object(name: String?)
    case list(index: Int)
  }

  private var levels: [Level] = []
  private var scanner = Scanner()

  mutating func go(to end: Int, _ bytes: Bytes) {
    while scanner.at < end {
      guard bytes[scanner.at] != UInt8(ascii: "\"") else {
        guard let token = try? scanner.string(bytes), scanner.at <= end else { return }
        take(token, bytes)
        continue
      }
      step(bytes[scanner.at])
      scanner.at += 1
    }
    // The offset may be that of a name.
    if scanner.peek(bytes) == UInt8(ascii: "\""), let token = try? scanner.string(bytes) {
      take(token, bytes)
    }
  }

  private mutating func step(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "{"): levels.append(.object(name: nil))
    case UInt8(ascii: "["): levels.append(.list(index: 0))
    case UInt8(ascii: "}"), UInt8(ascii: "]"): _ = levels.popLast()
    case UInt8(ascii: ","):
      switch levels.popLast() {
      case .list(let index): levels.append(.list(index: index + 1))
      case .object: levels.append(.object(name: nil))
      case nil: break
      }
    default: break
    }
  }

  private mutating func take(_ token: StringToken, _ bytes: Bytes) {
    guard case .object(name: nil) = levels.last else { return }
    levels[levels.count - 1] = .object(name: scanner.text(token, bytes))
  }

  var path: String {
    var path = ""
    for level in levels {
      switch level {
      case .list(let index): path += "[\(index)]"
      case .object(name: nil): break
      case .object(let name?): path += part(name, first: path.isEmpty)
      }
    }
    return path
  }

  private func part(_ name: String, first: Bool) -> String {
    let plain = name.utf8.allSatisfy { $0 == 0x5F || $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 26 }
    if !plain || name.isEmpty { return "[\"\(shown(name))\"]" }
    return first ? name : "." + shown(name)
  }
}
