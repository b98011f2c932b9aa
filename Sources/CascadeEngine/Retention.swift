package import CascadeModel

/// What Cascade keeps beside the rows of the application, and when it is forgotten. Both engines ask here.
///
/// 1. What a batch deleted is forgotten when `trash` has passed since the end of the batch; not while a
///    sweep or an undo of it goes on.
/// 2. A notice is forgotten after `keep.notices`.
/// 3. An entry of the ledger is forgotten after `keep.ledger`; not as long as something else of its batch is
///    kept, and not if it says how far a file of many transactions came that is not at its end.
/// 4. What went is known by its number for `keep.deleted`, whatever becomes of the trash.
/// 5. Batches, notices and numbers of what went are in the order of their time, but for a sweep that ends behind a later batch. So what is past its time is looked for page by page, and no further than to a page
///    without any.
package struct Retention: Sendable {
  /// In the order in which they are forgotten.
  package enum Kept: CaseIterable, Sendable {
    /// Rows, objects, references and edges in the trash; files that are there alone.
    case trash, files
    case notices
    /// Nodes that went, by their numbers.
    case deleted
    /// Of the ledger.
    case entries
  }

  /// Why something may have to be kept longer.
  package struct Ties: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// A sweep or an undo that is not at its end.
    package static let openWork = Ties(rawValue: 1)
    package static let trash = Ties(rawValue: 2)
    /// Files in the trash, or on their way there.
    package static let files = Ties(rawValue: 4)
    package static let notices = Ties(rawValue: 8)
    /// It is the last entry of a file that has more transactions.
    package static let unfinishedFile = Ties(rawValue: 16)
  }

  package struct Item: Sendable {
    /// Of the batch, of the notice, or the first one of nodes that went together.
    package let number: Int64
    /// By the clock of today, in milliseconds. What was recorded while the clock was ahead is as old as
    /// the next batch; nil if there is none.
    package let at: Int64?
    package let ties: Ties

    package init(number: Int64, at: Int64?, ties: Ties = []) {
      (self.number, self.at, self.ties) = (number, at, ties)
    }
  }

  private let limits: [Kept: Int64]

  package init(_ model: StoreModel, at now: Int64) {
    let ages: [Kept: Duration] = [
      .trash: model.trash, .files: model.trash, .notices: model.retention.notices,
      .deleted: model.retention.deleted, .entries: model.retention.ledger,
    ]
    limits = ages.mapValues { now - $0.inMilliseconds }
  }

  /// Before this time, in milliseconds, a thing of that kind is past its own.
  package func limit(of kept: Kept) -> Int64 { limits[kept]! }

  private static func binding(_ kept: Kept) -> Ties {
    switch kept {
    case .trash, .files: .openWork
    case .notices, .deleted: []
    case .entries: [.openWork, .trash, .files, .notices, .unfinishedFile]
    }
  }

  // MARK: - The search

  /// How far a search for what is past its time has come.
  package struct Search: Sendable {
    fileprivate var rest = Kept.allCases[...]
    fileprivate var last = Int64.min

    package init() {}
  }

  /// How many things an engine looks at together.
  package static let page = 256

  /// Finds some more that are to be forgotten, in the order of their numbers; nil if there are none left.
  /// `look` returns the next ones behind a number.
  package func next(
    _ search: inout Search, _ look: (_ kept: Kept, _ behind: Int64) throws -> [Item]
  ) rethrows -> (kept: Kept, numbers: [Int64])? {
    while let kept = search.rest.first {
      let items = try look(kept, search.last)
      let past = items.filter { $0.at.map { $0 < limit(of: kept) } ?? false }
      guard let last = items.last, !past.isEmpty else {
        search.rest.removeFirst()
        search.last = .min
        continue
      }
      search.last = last.number
      let free = past.filter { $0.ties.isDisjoint(with: Retention.binding(kept)) }
      if !free.isEmpty { return (kept, free.map(\.number)) }
    }
    return nil
  }
}
