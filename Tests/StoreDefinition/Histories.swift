package import CascadeModel
package import CascadeStore
import Testing

#if canImport(Glibc)
  import Glibc
#endif

/// What random comparisons have in common.
package enum Histories {
  /// Long runs, on request.
  package static let isLong = unsafe getenv("CASCADE_LONG") != nil

  /// The seeds to try: `CASCADE_SEEDS`, which is one seed or the first and the last (`100-199`), or the first
  /// ones.
  package static func seeds(quick: UInt64, long: UInt64) -> Range<UInt64> {
    let asked = unsafe getenv("CASCADE_SEEDS").map { unsafe String(cString: $0) } ?? ""
    let ends = asked.split(separator: "-").compactMap { UInt64($0) }
    guard let first = ends.first, let last = ends.last else { return 0..<(isLong ? long : quick) }
    return first..<(last + 1)
  }

  /// Every so many of them, so that parts of them run beside each other.
  package static func seeds(
    quick: UInt64, long: UInt64, part: Int, of parts: Int
  ) -> [UInt64] {
    seeds(quick: quick, long: long).filter { $0 % UInt64(parts) == UInt64(part) }
  }

  /// A short history that still shows a difference: one thing is left out at a time, for a minute.
  package static func shrink<Step>(
    _ history: [[Step]], by difference: ([[Step]]) throws -> String?
  ) rethrows -> [[Step]] {
    var best = history
    let end = ContinuousClock.now + .seconds(60)
    var index = best.count - 1
    while index >= 0 && .now < end {
      var candidate = best
      candidate.remove(at: index)
      if try difference(candidate) != nil { best = candidate }
      index -= 1
    }
    for transaction in best.indices {
      for change in best[transaction].indices.reversed() where .now < end {
        var candidate = best
        candidate[transaction].remove(at: change)
        if try difference(candidate) != nil { best = candidate }
      }
    }
    return best
  }
}

extension StoreUnderTest {
  /// What became of a transaction, as the reference tells it.
  package func outcome(_ changes: [Change]) throws -> Reference.Result {
    do {
      let receipt = try apply(changes)
      let deleted = Set(receipt.deleted)
      #expect(receipt.deletedCount == receipt.deleted.count || deleted.count < 3)
      return Reference.Result(deleted: deleted)
    } catch let rejection as Rejection {
      return Reference.Result(denied: Set(rejection.reasons.compactMap(\.node)))
    }
  }

  /// How edges and notices differ from the reference's, if they do.
  package func difference(from reference: Reference) throws -> String? {
    let edges = Set(
      try self.edges().filter { edge in
        !listsEdgesToNothing || edge.destination.node.map { reference.nodes[$0] != nil } ?? true
      }.map(\.asDeclared))
    let expected = Set(reference.edges.map { Edge($0.key, $0.value) })
    if edges != expected {
      return "edges \(edges.subtracting(expected)), not \(expected.subtracting(edges))"
    }
    let told = try reader.notices(after: 0, limit: 100_000).map(Reference.Told.init)
    let toldCounts = Dictionary(grouping: told, by: \.self).mapValues(\.count)
    let expectedCounts = Dictionary(grouping: reference.notices, by: \.self).mapValues(\.count)
    if toldCounts == expectedCounts { return nil }
    return "notices \(toldCounts.filter { expectedCounts[$0.key] != $0.value }), "
      + "not \(expectedCounts.filter { toldCounts[$0.key] != $0.value })"
  }
}

extension Edge {
  package init(_ id: Reference.EdgeID, _ rules: Rules) {
    self.init(
      name: id.name, source: id.source, destination: .node(id.destination), rules: rules,
      origin: id.origin)
  }

  /// The reference does not ask where a source declares its edges.
  package var asDeclared: Edge {
    Edge(
      name: name, source: source, destination: destination, rules: rules,
      origin: origin == .manual ? .manual : .declared)
  }
}

extension Reference.Told {
  package init(_ notice: Notice) {
    let edge = notice.edge.asDeclared
    guard case .node(let to) = edge.destination else { fatalError("no files here") }
    self.init(
      receiver: notice.node,
      edge: Reference.EdgeID(
        name: edge.name, source: edge.source, destination: to, origin: edge.origin),
      reason: notice.reason)
  }
}
