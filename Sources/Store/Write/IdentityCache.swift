internal import CascadeModel
/// Ids that were looked up before. Every end of every edge of a large load asks here.
///
/// A table of fixed size in which a newcomer replaces who had its place: bounded memory, and no
/// work to keep it so. Keys are the same when their bytes are: Swift's strings are equal when their
/// characters look alike, which SQLite's are not.
final class IdentityCache {
  private struct Entry {
    /// Of collection and key: one look at it sends most strangers away.
    var print: UInt64 = 0
    var collection: Int64 = 0
    var id: Int64 = 0
    var key = ""
  }

  private var entries: [Entry] = []

  /// 2.5 MB, and as much again for long keys. Taken with the first use.
  private static let size = 1 << 16

  subscript(identity: Interned.Identity) -> Int64? {
    get {
      if entries.isEmpty { return nil }
      let print = identity.print
      let place = Int(print % UInt64(IdentityCache.size))
      guard entries[place].print == print, entries[place].collection == identity.collection,
        entries[place].key.hasBytes(of: identity.key)
      else { return nil }
      return entries[place].id
    }
    set {
      if entries.isEmpty { entries = Array(repeating: Entry(), count: IdentityCache.size) }
      let print = identity.print
      let place = Int(print % UInt64(IdentityCache.size))
      entries[place] =
        newValue.map {
          Entry(print: print, collection: identity.collection, id: $0, key: identity.key)
        } ?? Entry()
    }
  }

  func forget() { entries = [] }
}

/// The few names that all nodes and edges share. A file repeats them in every line.
final class NameCache {
  private struct Entry {
    let name: String
    let count: Int
    let isPlain: Bool
    let id: Int64
  }

  private var entries: [Entry] = []

  private static let most = 32

  subscript(name: String) -> Int64? {
    get {
      let count = name.utf8.count
      for entry in entries where entry.count == count && entry.name == name {
        // What looks like an ASCII name, and is as long, is it; others may differ in their bytes.
        if entry.isPlain || entry.name.hasBytes(of: name) { return entry.id }
      }
      return nil
    }
    set {
      entries.removeAll { $0.name.hasBytes(of: name) }
      if entries.count == NameCache.most { entries.removeAll(keepingCapacity: true) }
      guard let newValue else { return }
      let isPlain = name.utf8.allSatisfy { $0 < 0x80 }
      entries.append(
        Entry(name: name, count: name.utf8.count, isPlain: isPlain, id: newValue))
    }
  }

  func forget() { entries = [] }
}

extension Interned.Identity {
  /// The collection counts too: a key may be in several.
  fileprivate var print: UInt64 {
    key.utf8Span.span.print(seed: UInt64(bitPattern: collection))
  }
}
