package import CascadeModel

/// Why a node that had to stay would have gone.
package struct HeldReason: Hashable {
  let node: Node
  let rule: Rules
  let edge: Reference.EdgeID
  let losesSource: Bool
}

/// What an application commits cannot be rejected, so a denied node stays. It waits with its reason, and
/// goes when nothing denies it any more, if the reason stands then.
extension Reference {
  /// A transaction of an application, and the sweep that follows. Returns the nodes that stay denied.
  package mutating func sweep(_ changes: [Change]) -> Set<Node> {
    isSweeping = true
    defer { isSweeping = false }
    begin()
    for change in changes { apply(change) }
    edges = edges.filter { !isEnded($0.key) }
    dropOver()
    var (kept, gone): (Set<Node>, Set<Node>) = ([], closure())
    while case let more = denied(gone).filter({ nodes[$0] != nil }), !more.isEmpty {
      kept.formUnion(more)
      gone = closure(without: kept)
    }
    heldBack = reasons(of: kept, gone)
    end(gone)
    for reason in heldBack.keys { heldBack[reason] = edgesAlike(reason) }
    return kept
  }

  package var holdsBack: Bool { !heldBack.isEmpty }

  /// What a change file has put stays, although it has lost an edge of rule 8. What an application has
  /// deleted is another node, if there is one of its key again.
  mutating func endWait(_ change: Change) {
    switch change {
    case .put(let node, _, _, _, _, _) where !isSweeping:
      heldBack = heldBack.filter {
        $0.key.node != node || $0.key.rule != .deleteDestinationIfSourceDeleted
      }
    case .delete(let node, _) where isSweeping: heldBack = heldBack.filter { $0.key.node != node }
    default: break
    }
  }

  /// A node that an application deletes is another one when it is there again. It has lost nothing
  /// that was lost until then, and no edge that leads nowhere meanwhile.
  mutating func endLosses(of node: Node) {
    if !isSweeping { return }
    clock += 1
    deletedAt[node] = clock
    removed = removed.filter { edge, loss in
      (loss.removal == .sourceDeleted ? edge.destination : edge.source) != node
    }
    let broken = edges.keys.filter {
      $0.source == node && isDeleted($0.destination)
        || $0.destination == node && isDeleted($0.source)
    }
    ended.formUnion(broken.filter { inRows.contains($0.path) })
  }

  mutating func noteArrival(of node: Node) {
    if nodes[node] != nil || deletedAt[node] == nil { return }
    clock += 1
    arrivedAt[node] = clock
  }

  /// What is in a row leads from the row to whatever is there.
  mutating func beginAgain() {
    ended = ended.filter { nodes[$0.source] == nil || nodes[$0.destination] == nil }
  }

  /// Whether an edge outside of the rows of its source had lost one end when the node at the other one came.
  func isEnded(_ edge: EdgeID) -> Bool {
    if inRows.contains(edge.path) { return ended.contains(edge) }
    func isBefore(_ lost: Node, _ made: Node) -> Bool {
      guard isDeleted(lost), nodes[made] != nil, let arrived = arrivedAt[made] else { return false }
      return deletedAt[lost]! < arrived
    }
    return isBefore(edge.source, edge.destination) || isBefore(edge.destination, edge.source)
  }

  /// Whether the node that would lose a removed edge was there.
  func isLoss(_ edge: EdgeID, _ removal: Removal) -> Bool {
    let loser = removal == .sourceDeleted ? edge.destination : edge.source
    return !isSweeping || !isEnded(edge) && !isDeleted(loser)
  }

  private func isDeleted(_ node: Node) -> Bool { nodes[node] == nil && deletedAt[node] != nil }

  /// A node that has gone, or was given an edge, waits no longer.
  private mutating func dropOver() {
    heldBack = heldBack.filter { reason, known in
      let isGiven =
        reason.rule == .deleteDestinationIfSourceDeleted
        && !edgesAlike(reason).isSubset(of: known)
      return nodes[reason.node] != nil && !isGiven
    }
  }

  /// The edges of the reason's name that lead to the node.
  private func edgesAlike(_ reason: HeldReason) -> Set<EdgeID> {
    Set(
      edges.keys.filter {
        $0.name == reason.edge.name && $0.destination == reason.node && nodes[$0.source] != nil
      })
  }

  /// Of rule 4, whether the reference still leads to nothing. What was in a table of its own has gone with
  /// the destination, and may be there again.
  func stands(_ reason: HeldReason) -> Bool {
    if reason.rule != .deleteSourceIfDestinationDeleted { return true }
    if !inRows.contains(reason.edge.path) { return edges[reason.edge] == nil }
    let all = alternatives(of: reason.edge) ?? [reason.edge]
    return isLost(reason.edge, []) && all.contains { edges[$0] != nil || loose[$0] != nil }
  }

  private func reasons(of kept: Set<Node>, _ gone: Set<Node>) -> [HeldReason: Set<EdgeID>] {
    var reasons: [HeldReason: Set<EdgeID>] = [:]
    eachLoss(gone) { edge, rules, losesSource in
      for node in follower(edge, rules, losesSource, gone) where kept.contains(node) {
        let rule = rules.intersection(losesSource ? Rules.losingSource : .losingDestination)
        reasons[
          HeldReason(node: node, rule: rule, edge: edge, losesSource: losesSource)] = []
      }
    }
    return reasons
  }
}

extension Rules {
  fileprivate static let losingSource: Rules = [
    .deleteDestinationIfSourceDeleted, .deleteDestinationIfAllSourcesDeleted,
  ]
  fileprivate static let losingDestination: Rules = [
    .deleteSourceIfDestinationDeleted, .deleteSourceIfAllDestinationsDeleted,
  ]
}
