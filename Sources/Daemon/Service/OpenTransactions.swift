internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import CascadeVarlink

/// The transactions that other processes have open, and since when each is known.
struct OpenTransactions {
  private var since: [OpenTransaction: ContinuousClock.Instant] = [:]

  mutating func note(_ now: [OpenTransaction]) {
    let known = since
    since = [:]
    for transaction in now { since[transaction] = known[transaction] ?? .now }
  }

  /// The one that is open for the longest time, as far as it is known.
  var longest: (process: Int32, time: Duration)? {
    since.min { $0.value < $1.value }.map { ($0.key.process, .now - $0.value) }
  }
}

extension StoreService {
  /// The other process that has been in a transaction for the longest time.
  func longestReader() -> (process: Int32, time: Duration)? {
    openTransactions.note(stores.engine.openTransactions(at: path))
    return openTransactions.longest
  }

  var longestReaderJSON: JSON {
    longestReader().map {
      ["process": .integer(Int64($0.process)), "seconds": .number($0.time / .seconds(1))]
    } ?? .null
  }

  /// A transaction that is open for so long is reported by `check`.
  private static let long = Duration.seconds(60)

  var longReaderFindings: [JSON] {
    guard let reader = longestReader(), reader.time > StoreService.long else { return [] }
    let seconds = Int(reader.time / .seconds(1))
    return [
      [
        "kind": "longReader",
        "message": .string(
          "process \(reader.process) has been in a transaction for \(seconds) s or more: until it "
            + "ends, the write-ahead log cannot begin anew"),
      ]
    ]
  }
}
