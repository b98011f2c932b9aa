import CascadeModel
import CascadePostgres
import PostgresSupport

/// Judges what is in a log.
struct HistoryJudge {
  private typealias Fact = WrittenHistory.Fact
  private let graph: WrittenGraph
  private let places: [WrittenGraph.Place]
  private let history: WrittenHistory
  /// The relations by the engine's numbers.
  private let numbers: [Int: Int]
  /// Why the daemon deleted a node, each time.
  private let causes: [Node: [Cause]]
  private(set) var problems: [String] = []

  private struct Cause {
    let rule: Rules
    let relation: Int
    let other: String
  }

  init(_ graph: WrittenGraph, _ store: PostgresFixture) throws {
    let session = try store.database.session(as: "postgres")
    let places = graph.places()
    (self.graph, self.places) = (graph, places)
    let numbers = try HistoryJudge.numbers(places, session)
    self.numbers = numbers
    history = try WrittenHistory(
      session, node: graph.node,
      facts: { table, row in
        let number = table.hasPrefix("edges_") ? Int(table.dropFirst(6)) : nil
        let stored = number.flatMap { numbers[$0] }
        return places.indices.filter {
          stored == $0
            || !table.hasPrefix("edges_") && !places[$0].table.isEmpty
              && (places[$0].table == table
                || places[$0].table == "objects" && table.hasPrefix("objects_"))
        }.flatMap { index in
          places[index].edges(row).map { Fact(relation: index, from: $0.from, to: $0.to) }
        }
      })
    causes = try HistoryJudge.causes(graph, numbers, session)
    judgeDeletions()
    if !graph.denies { judgeEnd() }
  }

  private static func numbers(
    _ places: [WrittenGraph.Place], _ session: borrowing Session
  ) throws -> [Int: Int] {
    let rows = try session.run(
      "SELECT number, name, source, destination, part FROM cascade.relation"
    )
    .rows
    return Dictionary(
      uniqueKeysWithValues: rows.compactMap { row in
        let tie = row[4]!.hasPrefix("tie: ") ? row[4]!.contains("\"s") ? "s" : "d" : nil
        let index = places.firstIndex {
          $0.name == row[1] && $0.from == row[2] && $0.destinations.contains(row[3]!)
            && $0.tie == tie
        }
        return index.map { (Int(row[0]!)!, $0) }
      })
  }

  private static func causes(
    _ graph: WrittenGraph, _ numbers: [Int: Int], _ session: borrowing Session
  ) throws -> [Node: [Cause]] {
    let rows = try session.run(
      """
      SELECT c.name, k.key, k.rule, k.via, k.other FROM cascade.deleted_node k
      JOIN cascade.collection c ON c.number = k.collection WHERE k.is_own ORDER BY k.id
      """
    ).rows
    return Dictionary(grouping: rows) { graph.node($0[0]!, $0[1]!) }.mapValues { rows in
      rows.map { row in
        Cause(
          rule: Rules(rawValue: row[2].flatMap { Int64($0) } ?? 0),
          relation: row[3].flatMap { Int($0) }.flatMap { numbers[$0] } ?? -1, other: row[4] ?? "")
      }
    }
  }

  // MARK: - What went

  private mutating func judgeDeletions() {
    var seen: [Node: Int] = [:]
    for event in history.events {
      guard let node = event.deleted else { continue }
      if !event.isDaemon {
        judgeDenials(of: node, event)
        continue
      }
      let index = seen[node, default: 0]
      seen[node] = index + 1
      guard let all = causes[node], index < all.count else {
        problems.append("\(node) went, and the daemon does not know of it")
        continue
      }
      if let wrong = judge(node, event, all[index]) {
        problems.append(
          "\(node) went by \(all[index].rule.names) with \(all[index].other) in event "
            + "\(event.number): \(wrong)\n\(history.log(of: node))")
      }
    }
    for (node, all) in causes where seen[node, default: 0] != all.count {
      problems.append("\(node) went \(seen[node, default: 0]) times, and not \(all.count) times")
    }
  }

  /// Relations of the same name, seen from an end.
  private func alike(_ relation: Int, at node: Node, isSource: Bool) -> Set<Int> {
    Set(
      places.indices.filter {
        places[$0].name == places[relation].name && places[$0].tie == nil
          && (isSource
            ? places[$0].from == node.collection
            : places[$0].destinations.contains(node.collection))
      })
  }

  /// What is wrong with a deletion by the daemon.
  private func judge(
    _ node: Node, _ event: WrittenHistory.Event, _ cause: Cause
  ) -> String? {
    if cause.rule.isEmpty { return nil }
    guard places.indices.contains(cause.relation) else { return "no such relation" }
    let (place, state) = (places[cause.relation], history.state(at: event))
    switch cause.rule {
    case .deleteSourceIfDestinationDeleted:
      let all = place.destinations.compactMap { other(cause, in: $0) }
      let facts = all.map { Fact(relation: cause.relation, from: node, to: $0) }
      let was = facts.filter { fact in
        place.isJoin ? history.wasThere(fact, before: event) : event.before.contains(fact)
      }
      if was.isEmpty { return "it had no such edge" }
      let isThere =
        place.isEither ? all.contains(where: state.has) : was.allSatisfy { state.has($0.to) }
      // A stored edge that is unlinked may have a destination that is there.
      if place.isJoin { return was.contains(where: state.has) ? "it has that edge" : nil }
      return isThere ? "its destination is there" : nil
    case .deleteDestinationIfSourceDeleted:
      guard let source = other(cause, in: place.from) else { return "no such source" }
      let fact = Fact(relation: cause.relation, from: source, to: node)
      if !history.wasThere(fact, before: event) { return "it had no such edge" }
      return state.has(fact) && state.has(source) ? "its edge is there" : nil
    case .deleteDestinationIfAllSourcesDeleted:
      let all = alike(cause.relation, at: node, isSource: false)
      return kept(event, state, all) {
        $0.to == node && state.has($0.from)
      } isNew: {
        $0.to == node
      }
    case .deleteSourceIfAllDestinationsDeleted:
      let all = alike(cause.relation, at: node, isSource: true)
      return kept(event, state, all) {
        $0.from == node && state.has($0.to)
      } isNew: {
        places[$0.relation].isJoin && $0.from == node
      }
    default: return "this is no rule that deletes"
    }
  }

  private func other(_ cause: Cause, in collection: String) -> Node? {
    let isNumber = graph.node(collection, "0").key == .integer(0)
    if isNumber && Int64(cause.other) == nil { return nil }
    return graph.node(collection, cause.other)
  }

  /// An edge that keeps the node which an event has deleted.
  private func kept(
    _ event: WrittenHistory.Event, _ state: WrittenHistory.State, _ relations: Set<Int>,
    _ keeps: (Fact) -> Bool, isNew: (Fact) -> Bool
  ) -> String? {
    if let edge = state.allFacts.first(where: { relations.contains($0.relation) && keeps($0) }) {
      return "\(edge) keeps it"
    }
    let unseen = history.unseen(by: event, of: event.deleted!).first {
      relations.contains($0.relation) && isNew($0)
    }
    return unseen.map { "\($0) begins to keep it" }
  }

  /// What a session deleted although a rule denies it: by an edge that it saw, and that was there still
  /// when it ended, or by one that came from a session which saw the node.
  private mutating func judgeDenials(of node: Node, _ event: WrittenHistory.Event) {
    if !graph.denies { return }
    let states = [history.state(at: event), history.stateLater(than: event)]
    /// Whether the node at the other end was there all the time.
    func hasOther(_ fact: Fact) -> Bool {
      let other = fact.to == node ? fact.from : fact.to
      let isSame = Set(states.map { $0.births[other] }).count == 1
      return other != node && isSame && states.allSatisfy { $0.has(other) }
    }
    for fact in states[0].allFacts where states[1].has(fact) && hasOther(fact) {
      judgeDenial(by: fact, of: node, event)
    }
    for fact in history.unseen(by: event, of: node)
    where fact.from != fact.to
      && (fact.to == node || places[fact.relation].isJoin && hasOther(fact))
    {
      judgeDenial(by: fact, of: node, event)
    }
  }

  private mutating func judgeDenial(
    by fact: Fact, of node: Node, _ event: WrittenHistory.Event
  ) {
    let rules = places[fact.relation].rules
    let isDenied =
      fact.to == node && rules.contains(.denyDestinationDeletion)
      || fact.from == node && rules.contains(.denySourceDeletion)
    if !isDenied { return }
    problems.append(
      "a session deleted \(node) in event \(event.number), which \(fact) denies\n"
        + history.log(of: node))
  }

  // MARK: - What is left

  private mutating func judgeEnd() {
    let end = history.end
    for (fact, count) in end.facts where count > 0 { judgeReference(fact, end) }
    for (node, count) in end.nodes where count > 0 { judgeNode(node, end) }
  }

  /// A reference to nothing that the rules would remove.
  private mutating func judgeReference(_ fact: Fact, _ end: WrittenHistory.State) {
    let place = places[fact.relation]
    let ends =
      place.isEither
      ? place.destinations.map { graph.node($0, fact.to.key.managedText!) } : [fact.to]
    let lacksSource = place.isJoin && !end.has(fact.from)
    if !lacksSource && ends.contains(where: end.has) { return }
    let isRemoved = !place.rules.isDisjoint(with: [
      .deleteSourceIfDestinationDeleted, .nullifySourceIfDestinationDeleted,
    ])
    if isRemoved || place.isJoin && place.table.hasPrefix("t ") == false {
      problems.append("\(fact) of \(place.name) is left, and leads to nothing")
    } else if place.rules.contains(.deleteSourceIfAllDestinationsDeleted) {
      let all = alike(fact.relation, at: fact.from, isSource: true)
      let isKept = end.allFacts.contains {
        all.contains($0.relation) && $0.from == fact.from && end.has($0.to)
      }
      if !isKept { problems.append("\(fact.from) is left, and has lost \(fact)") }
    }
  }

  /// Whether the key is that of a node that a session had deleted. As long as no sweep has seen that,
  /// what the new node loses does not count.
  private func isUsedAgain(_ node: Node) -> Bool {
    history.events.contains { $0.deleted == node && !$0.isDaemon }
  }

  /// A node that has lost an edge since it is there, and should have followed it.
  private mutating func judgeNode(_ node: Node, _ end: WrittenHistory.State) {
    if isUsedAgain(node) { return }
    for (fact, event) in history.lost(while: node) where fact.to == node {
      let rules = places[fact.relation].rules
      if rules.contains(.deleteDestinationIfSourceDeleted) && !end.has(fact) {
        problems.append("\(node) is left, and has lost \(fact) in event \(event.number)")
      } else if rules.contains(.deleteDestinationIfAllSourcesDeleted) {
        let all = alike(fact.relation, at: node, isSource: false)
        let isKept = end.allFacts.contains {
          all.contains($0.relation) && $0.to == node && end.has($0.from)
        }
        if !isKept {
          problems.append("\(node) is left, and has lost all of \(fact) in event \(event.number)")
        }
      }
    }
  }
}
