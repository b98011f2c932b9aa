/// Names that were read before and are valid. A file repeats the same few names of collections and
/// edges in every line, so each is checked and made into a string only once.
struct KnownNames: Sendable {
  private static let limit = 8

  private struct Entry {
    let head: UInt64
    let count: Int
    let bytes: [UInt8]
    let name: String
  }

  private var entries: [Entry] = []
  private var next = 0

  func find(_ token: StringToken, _ bytes: Bytes) -> String? {
    let range = token.range
    let head = bytes.firstEightBytes(range)
    for index in entries.indices
    where entries[index].head == head && entries[index].count == range.count {
      guard range.count <= 8 || bytes.same(range, as: entries[index].bytes, from: 8) else {
        continue
      }
      return entries[index].name
    }
    return nil
  }

  /// Remembers a name, in place of the oldest one when the list is full.
  mutating func remember(_ token: StringToken, _ name: String, _ bytes: Bytes) {
    // With escapes, the bytes in the text are not the bytes of the name.
    guard !token.escaped else { return }
    let range = token.range
    let entry = Entry(
      head: bytes.firstEightBytes(range), count: range.count, bytes: Array(name.utf8), name: name)
    if entries.count < KnownNames.limit {
      entries.append(entry)
    } else {
      entries[next] = entry
      next = (next + 1) % KnownNames.limit
    }
  }
}
