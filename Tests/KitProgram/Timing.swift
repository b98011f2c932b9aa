import CascadeKit
import CascadeSystem

/// What deploy/bench measures of CascadeKit, on its side. Each prints seconds, after a first time that
/// fills the caches.
enum Timing {
  static func read(_ what: String, _ path: String) async throws {
    let store = Store(path)
    _ = try await read(what, store)
    say("\(try await read(what, store))")
  }

  /// The seconds of one reading.
  private static func read(_ what: String, _ store: Store) async throws -> Double {
    try await store.read { db in
      let albums = what == "inverse" ? try db.all(Album.all.order(by: \.id).limit(1_000)) : []
      let watch = Stopwatch()
      switch what {
      case "rows": try expect(db.all(Song.all).count)
      case "each":
        var count = 0
        try db.each(Song.all) { count += $0.year > 0 ? 1 : 0 }
        try expect(count)
      case "objects": try expect(db.all(Thing.all).count)
      case "inverse": try expect(db.get(Album.songs, ofEach: albums).count)
      default: for _ in 0..<20 { try expect(db.count(Song.where(\.year > 1950))) }
      }
      return watch.seconds
    }
  }

  private static func expect(_ count: Int) throws { precondition(count > 0, "nothing was read") }

  /// Prints the percentiles of the time to a receipt in milliseconds, and the writes in a second.
  static func write(_ path: String, _ count: Int, writers: Int) async throws {
    let store = Store(path)
    try await write(store, writers)
    let whole = Stopwatch()
    let times = try await withThrowingTaskGroup(of: [Double].self) { group in
      for _ in 0..<writers {
        group.addTask {
          try await (0..<(count / writers)).asyncMap { _ in
            let watch = Stopwatch()
            try await write(store, 1)
            return watch.seconds * 1_000
          }
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    let rate = Double(times.count) / whole.seconds
    let sorted = times.sorted()
    say("\(sorted[sorted.count / 2]) \(sorted[sorted.count * 99 / 100]) \(rate)")
  }

  private static func write(_ store: Store, _ count: Int) async throws {
    for _ in 0..<count {
      try await store.write { tx in try tx.put(Album(id: .new(), title: "Pastel Blues")) }
    }
  }

  /// Prints the seconds of one write of so many values.
  static func put(_ path: String, _ count: Int) async throws {
    let store = Store(path)
    let album = Album(id: .new(), title: "Pastel Blues")
    let songs = songs(count, album.id)
    try await store.write { tx in try tx.put(album) }
    let watch = Stopwatch()
    try await store.write(timeout: .seconds(600)) { tx in for song in songs { try tx.put(song) } }
    say("\(watch.seconds)")
  }

  /// Prints the change file of such a write.
  static func printPuts(_ count: Int) throws {
    var transaction = Transaction()
    let album = Album(id: .new(), title: "Pastel Blues")
    try transaction.put(album)
    for song in songs(count, album.id) { try transaction.put(song) }
    say(String(decoding: transaction.file(author: nil), as: UTF8.self))
  }

  private static func songs(_ count: Int, _ album: ID<Album>) -> [Song] {
    (0..<count).map {
      Song(id: .new(), title: "Sinnerman \($0)", year: 1_900 + $0 % 100, album: album)
    }
  }
}

/// Measures the time since it was made.
private struct Stopwatch {
  private let start = SystemClock.monotonicMicroseconds()
  var seconds: Double { Double(SystemClock.monotonicMicroseconds() - start) / 1e6 }
}

extension Sequence {
  fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
    var result: [T] = []
    for element in self { result.append(try await body(element)) }
    return result
  }
}
