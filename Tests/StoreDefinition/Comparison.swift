package import CascadeModel
package import CascadeStore
import Testing

/// One history, told to the store and to the reference.
package struct Comparison {
  /// Who writes, and how the sweep goes that follows.
  package enum Way: String {
    case files, sweeps, stepped, kinds, steppedKinds, stopped, stoppedKinds, jobs, steppedJobs

    /// Whether nodes are deleted by jobs.
    var isOfJobs: Bool { self == .jobs || self == .steppedJobs }
  }

  package let engine: any EngineUnderTest
  package let graph: PlacedGraph
  package let way: Way
  package let seed: UInt64

  /// Where nothing is kept, less of the journal is taken apart.
  package var model: String { graph.model(trash: seed / 2 % 2 == 0 ? "1d" : "0") }

  package var schema: String { graph.schema(seed) }

  private var isStepped: Bool { ![.files, .sweeps, .kinds, .jobs].contains(way) }
  private var isByKinds: Bool { [.kinds, .steppedKinds, .stoppedKinds].contains(way) }
  /// Nothing looks for references to what never was: a rule that denies leaves them as they are.
  private var leavesDangling: Bool { isByKinds || graph.denies }
  private var kinds: [SweepKind] { graph.denies ? [.cascade, .refcount] : [.all] }
  private var isStopped: Bool { way == .stopped || way == .stoppedKinds }

  package func difference(_ history: [[PlacedStep]]) throws -> String? {
    do {
      return try difference(along: history)
    } catch let split as SplitSweep {
      return "\(split)"
    }
  }

  private func difference(along history: [[PlacedStep]]) throws -> String? {
    let store = try engine.makeStore(model: StoreModel(model), schema: schema)
    if isStepped { store.sweepsInSteps(of: 1 + Int64(seed % 3)) }
    if seed / 4 % 2 == 0 { store.setManyNodes(1 + Int(seed % 3)) }
    _ = try store.writer.sweep([.all], at: 0)
    var reference = Reference()
    reference.alternatives = graph.alternatives
    reference.inRows = graph.inRows
    for (index, written) in history.enumerated() {
      let steps = comparable(written, reference)
      let told = (reference.notices.count, try store.lastNotice())
      let isOfFiles = way == .files || steps.contains(where: \.isOfFiles)
      if index % 3 == 2 { try store.rest() }
      let isJob = way.isOfJobs && !steps.isEmpty && steps.allSatisfy { $0.deleted != nil }
      let unlike =
        try isJob
        ? carryOutJob(steps, store, &reference)
        : isOfFiles ? apply(steps, store, &reference) : sweep(steps, index, store, &reference)
      if let unlike { return "transaction \(index): \(unlike)" }
      if let state = try difference(store, reference, told) { return "after \(index): \(state)" }
    }
    if graph.denies {
      // A file may have ended a denial.
      _ = reference.sweep([])
      _ = try store.writer.sweep(kinds, at: 1)
    }
    let last = try store.writer.sweep(kinds, at: 2)
    let isNothing = last.outcome == .nothing || last.outcome == .blocked && reference.holdsBack
    return isNothing && last.batch == nil ? nil : "one more sweep: \(last)"
  }

  /// What only the application could tell is left out. One omission may call for another.
  private func comparable(_ written: [PlacedStep], _ reference: Reference) -> [PlacedStep] {
    if way == .files { return written }
    var (steps, last) = (written, "")
    while last != "\(steps)" {
      last = "\(steps)"
      if leavesDangling { steps = reference.withoutDangling(steps) }
      steps = reference.withoutNewcomers(steps, in: graph)
    }
    return steps
  }

  private func apply(
    _ steps: [PlacedStep], _ store: any StoreUnderTest, _ reference: inout Reference
  ) throws -> String? {
    let expected = reference.apply(steps.map(graph.forReference))
    var actual: Reference.Result
    do {
      actual = Reference.Result(deleted: Set(try store.apply(steps.map(graph.forFile)).deleted))
    } catch let rejection as Rejection {
      actual = Reference.Result(denied: Set(rejection.reasons.compactMap(\.node)))
    }
    return actual == expected ? nil : "\(actual), not \(expected)"
  }

  /// Deletes all of the nodes, as a change file would.
  private func carryOutJob(
    _ steps: [PlacedStep], _ store: any StoreUnderTest, _ reference: inout Reference
  ) throws -> String? {
    let expected = reference.apply(steps.map(graph.forReference))
    let request = DeletionJob.Request(.nodes(steps.compactMap(\.deleted)), by: "me")
    let job = try store.writer.carryOut(job: store.writer.begin(request, at: 1), at: 1)
    let denied = Set(job.blocked.compactMap { $0["node"].flatMap(Node.init(json:)) })
    if denied != expected.denied ?? [] {
      return "\(denied) have to stay, not \(expected.denied ?? [])"
    }
    let isLike =
      job.deletedCount == expected.deleted.count && (job.state == .done) == denied.isEmpty
    return isLike ? nil : "\(job), not \(expected)"
  }

  /// Some with INSERT OR REPLACE, some with upserts. A trigger judges each statement, and not what the
  /// transaction makes of it: what it refuses never was.
  private func sweep(
    _ steps: [PlacedStep], _ index: Int, _ store: any StoreUnderTest, _ reference: inout Reference
  ) throws -> String? {
    let statements = steps.enumerated().flatMap { place, step in
      graph.sql(step, replacing: (seed &+ UInt64(index + place)).isMultiple(of: 2))
    }
    do {
      try store.bySQL("BEGIN; \(statements.joined(separator: "; ")); COMMIT")
    } catch let error where store.isDenial(error) {
      return nil
    }
    let denied = reference.sweep(steps.map(graph.forReference))
    var random = Seeded(seed &+ UInt64(index))
    var stops = Stops(store, isStopped ? Int.random(in: 1...5, using: &random) : 0)
    if isByKinds {
      let first: [SweepKind] = seed / 8 % 2 == 0 ? [.cascade, .refcount] : [.refcount, .cascade]
      try stops.sweep(byKinds: first)
      return nil
    }
    _ = try stops.sweep(kinds)
    return stops.blocked == denied ? nil : "\(stops.blocked) stay, not \(denied)"
  }

  /// Of the notices, those behind the first `told` of each are looked at.
  private func difference(
    _ store: any StoreUnderTest, _ reference: Reference, _ told: (Int, Int64)
  ) throws -> String? {
    var nodes: Set<Node> = []
    for collection in PlacedGraph.collections {
      nodes.formUnion(try store.reader.nodes(in: collection, after: nil, limit: 100).map(\.node))
    }
    let wanted = Set(reference.nodes.keys)
    if nodes != wanted {
      return "nodes \(nodes.subtracting(wanted)) too many, \(wanted.subtracting(nodes)) missing"
    }
    let edges = Set(
      try store.edges().filter { $0.destination.node.map(wanted.contains) ?? true }.map(\.json.text)
    )
    let expected = Set(reference.existingEdges.map { Edge($0.key, $0.value).json.text })
    if edges != expected {
      return "edges \(edges.subtracting(expected)) too many, "
        + "\(expected.subtracting(edges)) missing"
    }
    return noticeDifference(
      try store.reader.notices(after: told.1, limit: 100_000), reference, told.0)
  }

  /// A sweep of one kind tells what loses an edge before the other kind takes it along, and perhaps
  /// again, where an application's triggers write among what it journals. So do the steps of a job.
  private func noticeDifference(
    _ notices: [Notice], _ reference: Reference, _ told: Int
  ) -> String? {
    let tellsAgain = isByKinds || way == .steppedJobs
    let counted = notices.filter { !tellsAgain || !$0.receiverDeleted }.map(Reference.Told.init)
    let counts = reference.counts(counted)
    let wanted = reference.counts(reference.notices.dropFirst(told))
    if tellsAgain && PlacedGraph.isHeard(seed) && Set(counts.keys) == Set(wanted.keys) {
      return nil
    }
    let isOnce = Set(notices.map(Reference.Told.init)).count == notices.count
    if counts == wanted && (isOnce || way == .files) { return nil }
    return "notices \(counts.filter { wanted[$0.key] != $0.value }), "
      + "not \(wanted.filter { counts[$0.key] != $0.value })"
      + (isOnce ? "" : ", some twice: \(notices.map(Reference.Told.init))")
  }
}

package struct Stopped: Error {}

extension Reference {
  /// How often each is told. The source of a reference without a type is told that it is lost. Which of
  /// its tables the notice names is not compared, nor whether there is one for each: sweeps of one kind
  /// may take its nodes one after the other, and a reference that never led anywhere was an edge to
  /// none of them.
  package func counts(_ all: some Sequence<Told>) -> [Told: Int] {
    var counts: [Told: Int] = [:]
    for var told in all {
      guard let first = alternatives(of: told.edge)?.first else {
        counts[told, default: 0] += 1
        continue
      }
      told.edge = first
      told.edge.destination.key = .text(first.destination.key.managedText ?? "")
      counts[told] = 1
    }
    return counts
  }
}

/// What one sweep deletes is one batch, however often it is stopped.
package struct SplitSweep: Error {
  package let batches: Set<Int64>
}

extension StepPolicy {
  /// The end of the daemon comes in one of the pauses.
  package static func stopping(after pauses: Int) -> StepPolicy {
    var left = pauses
    return StepPolicy { _ in
      left -= 1
      if left == 0 { throw Stopped() }
    }
  }
}

/// Sweeps that are stopped after so many steps, more each time, by the end of the daemon. Another
/// one goes on.
package struct Stops {
  package let store: any StoreUnderTest
  /// What the last sweep had to leave.
  package private(set) var blocked: Set<Node> = []
  /// None, if it is zero.
  private var steps: Int

  package init(_ store: any StoreUnderTest, _ steps: Int) {
    self.store = store
    self.steps = steps
  }

  /// Whether there was something to do.
  package mutating func sweep(_ kinds: [SweepKind]) throws -> Bool {
    var batches: Set<Int64> = []
    var wanted = kinds
    while true {
      let result = try sweepUntilStopped(wanted)
      if let batch = try result?.batch ?? store.unfinishedBatch { batches.insert(batch) }
      if let result {
        if batches.count > 1 { throw SplitSweep(batches: batches) }
        #expect(!result.blocked.contains { !$0.keepsNode })
        blocked = Set(result.blocked.compactMap(\.node))
        #expect(try store.unfinishedBatch == nil)
        return !batches.isEmpty || ![.nothing, .blocked].contains(result.outcome)
      }
      try store.reopen()
      wanted = try store.writer.unfinishedSweep ?? kinds
    }
  }

  private mutating func sweepUntilStopped(_ kinds: [SweepKind]) throws -> SweepResult? {
    if steps == 0 { return try store.writer.sweep(kinds, at: 1) }
    do {
      return try store.writer.sweep(kinds, at: 1, manners: .stopping(after: steps))
    } catch is Stopped {
      steps += 1
      return nil
    }
  }

  /// Until neither finds anything.
  package mutating func sweep(byKinds kinds: [SweepKind]) throws {
    for _ in 0..<50 {
      var found = false
      for kind in kinds where try sweep([kind]) { found = true }
      if !found { return }
    }
    Issue.record("the kinds find something again and again")
  }
}

extension Reference {
  /// What was never there is nobody's loss: sweeps of one kind do not look for it. Nor is what is named
  /// once more when it has gone. Whether an edge came back before its source went only the application knows.
  package func withoutDangling(_ steps: [PlacedStep]) -> [PlacedStep] {
    let awaited = awaited
    let steps =
      steps.first { $0.put.map(awaited.contains) ?? false }.map { [$0] }
      ?? steps.filter { $0.linked.isDisjoint(with: awaited) }
    var there = Set(nodes.keys)
    for step in steps {
      if case .put(let node, _) = step { there.insert(node) }
      if case .delete(let node) = step { there.remove(node) }
    }
    return steps.map { step in
      guard case .put(let node, let references) = step else { return step }
      return .put(node, references.mapValues { $0.filter(there.contains) })
    }
  }

  /// A node that comes when a reference without a type, which its key would have been, changes:
  /// whether it came before or afterwards, only the application knows.
  package func withoutNewcomers(_ steps: [PlacedStep], in graph: PlacedGraph) -> [PlacedStep] {
    steps.filter { step in
      guard let node = step.put, nodes[node] == nil else { return true }
      let waiting = edges.keys.filter { $0.destination == node && alternatives(of: $0) != nil }
      return waiting.allSatisfy { edge in
        steps.filter { $0.put == edge.source }.map(graph.forReference).allSatisfy { change in
          guard case .put(_, _, _, let declared, _, _) = change else { return true }
          return declared?.contains { $0.name == edge.name && $0.destination == .node(node) }
            == true
        }
      }
    }
  }
}
