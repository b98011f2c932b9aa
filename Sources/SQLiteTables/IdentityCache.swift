internal import CascadeModel

/// A cache of node ids, asked for both ends of every edge of a large load.
///
/// The table has a fixed size, and a new entry replaces the one in its slot. So memory is bounded
/// without any upkeep. Keys are compared by bytes: Swift takes strings for equal that are
/// canonically equivalent, SQLite does not.
package final class IdentityCache {
  private struct Entry {
    /// A hash of collection and key. Comparing it first rules out most other identities.
    var identityHash: UInt64 = 0
    var collection: Int64 = 0
    var id: Int64 = 0
    var key = ""
  }

  private var entries: [Entry] = []

  /// 2.5 MB, and as much again for long keys. Allocated on first use.
  private static let size = 1 << 16

  package subscript(identity: IdentityCaches.Identity) -> Int64? {
    get {
      if entries.isEmpty { return nil }
      let print = identity.identityHash
      let place = Int(print % UInt64(IdentityCache.size))
      guard entries[place].identityHash == print, entries[place].collection == identity.collection,
        entries[place].key.hasBytes(of: identity.key)
      else { return nil }
      return entries[place].id
    }
    set {
      if entries.isEmpty { entries = Array(repeating: Entry(), count: IdentityCache.size) }
      let print = identity.identityHash
      let place = Int(print % UInt64(IdentityCache.size))
      entries[place] =
        newValue.map {
          Entry(identityHash: print, collection: identity.collection, id: $0, key: identity.key)
        } ?? Entry()
    }
  }

  package func removeAllEntries() { entries = [] }
}

/// A cache of the few names that all nodes and edges share. A file repeats them in every line.
package final class NameCache {
  private struct Entry {
    let name: String
    let count: Int
    let isPlain: Bool
    let id: Int64
  }

  private var entries: [Entry] = []

  private static let most = 32

  package subscript(name: String) -> Int64? {
    get {
      let count = name.utf8.count
      for entry in entries where entry.count == count && entry.name == name {
        // A name equal to an ASCII name of the same length has the same bytes. Others may differ.
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

  func removeAllEntries() { entries = [] }
}

extension IdentityCaches.Identity {
  /// Includes the collection: several collections may have the same key.
  fileprivate var identityHash: UInt64 {
    key.utf8Span.span.tableHash(seed: UInt64(bitPattern: collection))
  }
}
