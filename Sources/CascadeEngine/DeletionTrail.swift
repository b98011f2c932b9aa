package import CascadeModel
package import CascadeStore

/// What an engine remembers of deletions, and the way from a node that is gone back to what began.
///
/// 1. A stretch of the way is what one batch knows: each node with the edge by which it followed.
/// 2. What an earlier batch deleted is a mere name in a later one. There the way goes on with the newest
///    deletion of that node up to this batch.
/// 3. Edges may be each other's reason, so the way ends where it comes back to a node.
package protocol DeletionTrail {
  /// One deletion of a node.
  associatedtype Entry: Hashable

  func newest(_ node: Node, upTo batch: Int64) throws -> Entry?
  func stretch(from entry: Entry) throws -> DeletionStretch
  /// What the ledger says of a batch.
  func cause(ofBatch batch: Int64) throws -> Why.LedgerCause?
}

package struct DeletionStretch {
  package let batch: Int64
  /// From a node to the first one of which the batch knows no reason.
  package var steps: [Plan.Step]
  /// Whether Cascade deleted the last one, and does not only know its name.
  package var isOwn: Bool

  package init(batch: Int64, steps: [Plan.Step], isOwn: Bool) {
    (self.batch, self.steps, self.isOwn) = (batch, steps, isOwn)
  }
}

/// As much as fits into a message; each step takes some 150 bytes.
package let longestDeletionTrail = 250_000

extension DeletionTrail {
  package func deletion(of node: Node) throws -> Why.Deletion? {
    guard let entry = try newest(node, upTo: .max) else { return nil }
    let stretch = try stretch(from: entry)
    return try deletion(in: stretch.batch, by: way(from: entry, stretch))
  }

  /// A deletion for which no node was the reason has no way.
  package func deletion(in batch: Int64, by way: DeletionStretch? = nil) throws -> Why.Deletion? {
    guard let end = try cause(ofBatch: batch) else { return nil }
    let began = try way.flatMap { $0.batch == batch ? nil : try cause(ofBatch: $0.batch) }
    let causes: [Submission.Kind: Why.Cause] = [.file: .file, .job: .job, .expired: .expired]
    let first = causes[(began ?? end).kind] ?? (way?.isOwn == true ? .unreachable : .sweep)
    return Why.Deletion(
      batch: batch, at: end.at, id: end.id, author: end.author, cause: first, chainStart: began,
      chain: way?.steps ?? [])
  }

  /// The batch of the result is the one in which it began.
  private func way(from entry: Entry, _ first: DeletionStretch) throws -> DeletionStretch {
    var (way, followed): (DeletionStretch, Set<Entry>) = (first, [entry])
    while let last = way.steps.last, last.rule == nil, way.steps.count < longestDeletionTrail,
      let earlier = try newest(last.node, upTo: way.batch), followed.insert(earlier).inserted
    {
      let more = try stretch(from: earlier)
      let isEnd = more.steps.first?.rule == nil
      let steps = isEnd ? way.steps : way.steps.dropLast() + more.steps
      way = DeletionStretch(batch: more.batch, steps: steps, isOwn: more.isOwn)
      if isEnd { break }
    }
    var seen: Set<Node> = []
    way.isOwn = way.isOwn && way.steps.last?.rule == nil
    way.steps = Array(way.steps.prefix { seen.insert($0.node).inserted })
    return way
  }
}
