package import CascadeModel
package import CascadeStore

/// Whether a deletion has to wait for an approval. This is the one decision, for every engine:
/// an engine counts, and has no rule of its own.
///
/// 1. A deletion is held if it takes more than `deletes` nodes, and more than `share` of some
///    collection, of the nodes that it had before.
/// 2. What sweeps deleted lately without an approval (`HoldWindow`) counts with it. What is held only
///    because of that joins the one plan that is open for it.
/// 3. Collections with `hold: false` count nowhere.
/// 4. An approval covers what was approved, and `deletes` nodes more.
/// 5. A collection whose size is not known is over its share.
package struct Hold {
  private let limit: StoreModel.Hold
  private let exempt: Set<String>

  package init(_ model: StoreModel) {
    (limit, exempt) = (model.limits.hold, model.withoutHold)
  }

  package enum Verdict: Hashable, Sendable { case passes, held, heldForSum }

  /// What would be deleted.
  package struct Deletion {
    /// The nodes, by collection.
    package var nodes: [String: Int]
    /// References that would be removed although nothing saw their destinations go, by kind.
    package var losses: [CollectionCount]
    /// It needs an approval however little it is.
    package var needsApproval: Bool

    package init(
      _ nodes: [String: Int], losses: [CollectionCount] = [], needsApproval: Bool = false
    ) {
      (self.nodes, self.losses, self.needsApproval) = (nodes, losses, needsApproval)
    }
  }

  /// What an operator has approved.
  package struct Approval {
    package var nodes: Int
    package var losses: Int

    package init(nodes: Int, losses: Int = 0) { (self.nodes, self.losses) = (nodes, losses) }
  }

  /// `recent` is what the window has. `size` tells how many nodes a collection has now, with those
  /// that go; nil if it is not known. It is asked only where the answer matters, and need not count
  /// further than `enough`: with so many the collection is within its share.
  package func judge(
    _ deletion: Deletion, recent: [String: Int] = [:], approval: Approval? = nil,
    size: (_ collection: String, _ enough: Int) throws -> Int?
  ) rethrows -> Verdict {
    let lost = deletion.losses.reduce(0) { $0 + $1.gone }
    if let approval {
      let covers = { $0 - $1 <= limit.deletes }
      let isCovered = covers(count(deletion.nodes), approval.nodes) && covers(lost, approval.losses)
      return isCovered ? .passes : .held
    }
    if deletion.losses.areOver(limit) { return .held }
    let nodes = deletion.nodes.filter { $0.value > 0 && !exempt.contains($0.key) }
    if deletion.needsApproval && deletion.nodes.values.contains(where: { $0 > 0 }) { return .held }
    if nodes.isEmpty { return .passes }
    if try isOver(nodes, [:], size) { return .held }
    let recent = recent.filter { !exempt.contains($0.key) }
    return try !recent.isEmpty && isOver(nodes, recent, size) ? .heldForSum : .passes
  }

  /// The same for what is left of a job. What was approved has some room, and what was expected has none.
  ///
  /// What goes by age is asked for once: an approval stands for the later passes over the collection, which
  /// are held only if one takes more than was approved, and more than half of the collection.
  /// Where the ages are doubtful, because they seem to be wrong, the first pass is asked for in any case.
  package func judge(
    _ job: DeletionJob, deleting nodes: [String: Int], areDoubtful: (Overdue) throws -> Bool,
    size: (_ collection: String, _ enough: Int) throws -> Int?
  ) rethrows -> Verdict {
    let count = job.deletedCount + nodes.values.reduce(0, +)
    if let most = job.approved.map({ $0 + limit.deletes }) ?? job.request.expected {
      return count <= most ? .passes : .held
    }
    guard let overdue = job.overdue else { return try judge(Deletion(nodes), size: size) }
    guard let standing = job.standing else {
      return try judge(Deletion(nodes, needsApproval: areDoubtful(overdue)), size: size)
    }
    let gone = nodes[overdue.collection] ?? 0
    if count <= standing { return .passes }
    return try size(overdue.collection, 2 * gone).map { 2 * gone <= $0 } ?? false ? .passes : .held
  }

  /// How many of these nodes count.
  package func count(_ nodes: [String: Int]) -> Int {
    nodes.reduce(0) { exempt.contains($1.key) ? $0 : $0 + $1.value }
  }

  /// Whether more may go than passes without a look at the sizes of the collections.
  package func needsSizes(_ nodes: Int, recent: [String: Int]) -> Bool {
    limit.isReachable && nodes + count(recent) > limit.deletes
  }

  private func isOver(
    _ nodes: [String: Int], _ recent: [String: Int],
    _ size: (_ collection: String, _ enough: Int) throws -> Int?
  ) rethrows -> Bool {
    let gone = nodes.merging(recent, uniquingKeysWith: +)
    if gone.values.reduce(0, +) <= limit.deletes { return false }
    return try gone.sorted { $0.key < $1.key }.contains { collection, gone in
      let before = recent[collection] ?? 0
      guard let all = try size(collection, enough(for: gone) - before) else { return true }
      return CollectionCount(name: collection, gone: gone, all: all + before).isOver(limit)
    }
  }

  /// The size of which so many nodes are surely not more than the share.
  private func enough(for gone: Int) -> Int {
    if limit.share <= 0 { return .max / 2 }
    let size = (Double(gone) / limit.share).rounded(.up) + 1
    return size < Double(Int.max / 2) ? Int(size) : .max / 2
  }
}
