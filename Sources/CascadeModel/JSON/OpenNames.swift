/// The member names read so far in the objects that are still open, used to find duplicates.
///
/// Up to `linear` names are compared one by one. Beyond that, a hash table with Swift's seeded hash
/// is used. So an object of a million members takes a million steps, and the author of a file
/// cannot choose names that collide.
struct OpenNames {
  private static let linear = 24

  private struct Entry {
    let start: Int
    let count: Int
    let escaped: Bool
  }

  /// One open object.
  struct Object {
    fileprivate let firstEntry: Int
    fileprivate let firstByte: Int
    /// Indices of entries by hash, -1 where a slot is free; empty while there are few names.
    fileprivate var table: [Int32] = []
  }

  private var entries: [Entry] = []
  /// The bytes of names that were written with escapes, with the escapes resolved.
  private var unescaped: [UInt8] = []

  mutating func removeAll() {
    entries.removeAll(keepingCapacity: true)
    unescaped.removeAll(keepingCapacity: true)
  }

  func open() -> Object { Object(firstEntry: entries.count, firstByte: unescaped.count) }

  mutating func close(_ object: Object) {
    entries.removeLast(entries.count - object.firstEntry)
    unescaped.removeLast(unescaped.count - object.firstByte)
  }

  /// Adds a name. False when the object already has it. `plain` is the name of a token with
  /// escapes.
  mutating func insert(
    _ token: StringToken, plain: [UInt8]?, into object: inout Object, _ bytes: Bytes
  ) -> Bool {
    let entry = append(token, plain: plain)
    defer { entries.append(entry) }
    let count = entries.count - object.firstEntry
    if count < OpenNames.linear {
      return !entries[object.firstEntry...].contains { same($0, entry, bytes) }
    }
    if count * 2 >= object.table.count { rebuild(&object, bytes) }
    return place(entry, Int32(count), in: &object, bytes)
  }

  private mutating func append(_ token: StringToken, plain: [UInt8]?) -> Entry {
    guard let plain else {
      return Entry(start: token.start, count: token.end - token.start, escaped: false)
    }
    unescaped.append(contentsOf: plain)
    return Entry(start: unescaped.count - plain.count, count: plain.count, escaped: true)
  }

  private func rebuild(_ object: inout Object, _ bytes: Bytes) {
    let known = entries[object.firstEntry...]
    object.table = Array(repeating: -1, count: max(128, object.table.count * 4))
    for (index, entry) in known.enumerated() {
      _ = place(entry, Int32(index), in: &object, bytes)
    }
  }

  /// Puts an entry in the slot of its hash, or in the next free one. False when the name is there.
  private func place(
    _ entry: Entry, _ index: Int32, in object: inout Object, _ bytes: Bytes
  ) -> Bool {
    let mask = object.table.count - 1
    var slot = hash(entry, bytes) & mask
    while object.table[slot] >= 0 {
      let other = entries[object.firstEntry + Int(object.table[slot])]
      if same(other, entry, bytes) { return false }
      slot = (slot + 1) & mask
    }
    object.table[slot] = index
    return true
  }

  private func byte(_ entry: Entry, _ index: Int, _ bytes: Bytes) -> UInt8 {
    entry.escaped ? unescaped[entry.start + index] : bytes[entry.start + index]
  }

  private func same(_ left: Entry, _ right: Entry, _ bytes: Bytes) -> Bool {
    guard left.count == right.count else { return false }
    for index in 0..<left.count where byte(left, index, bytes) != byte(right, index, bytes) {
      return false
    }
    return true
  }

  private func hash(_ entry: Entry, _ bytes: Bytes) -> Int {
    var hasher = Hasher()
    var word: UInt64 = 0
    for index in 0..<entry.count {
      word = word << 8 | UInt64(byte(entry, index, bytes))
      if index & 7 == 7 { hasher.combine(word) }
    }
    hasher.combine(word)
    hasher.combine(entry.count)
    return hasher.finalize()
  }
}
