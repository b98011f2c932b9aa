internal import Model

/// Ids that were looked up before. Every end of every edge of a large load asks here.
///
/// A table of fixed size in which a newcomer replaces who had its place: bounded memory, and no
/// work to keep it so. Keys are the same when their bytes are: Swift's strings are equal when their
/// characters look alike, which SQLite's are not.
struct IdentityCache {
  private struct Entry {
    var collection: Int64
    var key: String
    var id: Int64
  }

  private var entries: [Entry?] = []

  /// 2 MB, and as much again for long keys. Taken with the first use.
  private static let size = 1 << 16

  subscript(identity: Interned.Identity) -> Int64? {
    get {
      guard !entries.isEmpty, let entry = entries[place(of: identity)],
        entry.collection == identity.collection,
        entry.key.utf8Span.span.same(as: identity.key.utf8Span.span)
      else { return nil }
      return entry.id
    }
    set {
      if entries.isEmpty { entries = Array(repeating: nil, count: IdentityCache.size) }
      entries[place(of: identity)] = newValue.map {
        Entry(collection: identity.collection, key: identity.key, id: $0)
      }
    }
  }

  private func place(of identity: Interned.Identity) -> Int {
    var fingerprint = Fingerprint(identity.key)
    fingerprint.add(identity.collection)
    return Int(fingerprint.value % UInt64(IdentityCache.size))
  }

  mutating func forget() { entries = [] }
}
