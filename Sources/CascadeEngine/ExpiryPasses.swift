package import CascadeModel
package import CascadeStore

/// What goes because of its age, once for every engine. A pass over a collection is a job, and is carried
/// out like any other.
///
/// 1. A pass is over what was overdue when it began, so it ends, however much becomes overdue meanwhile.
/// 2. An approval of a pass stands for the later ones (`Hold`), as long as the model says the same.
/// 3. What was rejected is not asked for again, as long as the model says the same, until its time changes:
///    later passes begin behind it.
/// 4. The job of the last pass over a collection is what remembers that. It is kept until the next one
///    begins.
package protocol ExpiryPasses {
  var model: StoreModel { get }

  /// The job of the last pass with a name (`Expiry.pass`).
  func lastPass(named pass: String) throws -> DeletionJob?
}

extension ExpiryPasses {
  /// What is overdue now, by collection.
  package func overdue(at now: Int64) throws -> [Overdue] {
    try model.ages.map { collection, expiry in
      let last = try lastPass(named: expiry.pass(over: collection))?.overdue
      return Overdue(collection, expiry, at: now, last: last)
    }
  }
}

extension ExpiryPasses where Self: StoreReading {
  package func planExpired(at now: Int64) throws -> [Plan] {
    try overdue(at: now).compactMap { overdue in
      if overdue.isEmpty { return nil }
      var plan = try plan(of: .overdue(overdue))
      let last = try lastPass(named: overdue.pass)
      let standing =
        last?.overdue?.expiry == overdue.expiry ? last?.approved ?? last?.standing : nil
      if let standing, plan.deletedCount <= standing { plan.isOverLimit = false }
      return plan
    }
  }
}

/// The writing side.
package protocol ExpiringStore: StoreWriting, ExpiryPasses {
  /// Whether a row is overdue. Throws `UnfitExpiry`.
  func isAny(_ overdue: Overdue) throws -> Bool

  /// Writes down a pass in place of the last one. Returns its number.
  func insert(
    pass: DeletionJob.Request, standing: Int?, replacing last: Int64?, at now: Int64
  ) throws -> Int64
}

extension ExpiringStore {
  package func beginExpired(at now: Int64) throws -> BegunPasses {
    var begun = BegunPasses()
    for overdue in try isDetached ? [] : overdue(at: now) {
      do {
        if let job = try beginPass(overdue, at: now) { begun.jobs.append(job) }
      } catch let unfit as UnfitExpiry {
        begun.unfit.append(Reason(.invalid, unfit.description, path: unfit.problem.path))
      }
    }
    return begun
  }

  /// Nil if nothing is overdue.
  private func beginPass(_ overdue: Overdue, at now: Int64) throws -> Int64? {
    let last = try lastPass(named: overdue.pass)
    let isSame = last?.overdue?.expiry == overdue.expiry
    if let last, last.isOpen {
      if isSame { return last.number }
      _ = try cancel(job: last.number, at: now)
    }
    if try overdue.isEmpty || !isAny(overdue) { return nil }
    return try insert(
      pass: DeletionJob.Request(.overdue(overdue), by: "expired", isPartial: true),
      standing: isSame ? last?.approved ?? last?.standing : nil, replacing: last?.number, at: now)
  }
}
