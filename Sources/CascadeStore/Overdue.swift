package import CascadeModel

/// The rows of a collection that go because of their age.
package struct Overdue: Hashable, Sendable {
  package let collection: String
  package let expiry: Expiry
  /// Times in milliseconds since 1970: the rows of `after` and later, and of before `before`. Nil has no
  /// bound.
  package let after: Int64?
  package let before: Int64

  private init(_ collection: String, _ expiry: Expiry, after: Int64?, before: Int64) {
    (self.collection, self.expiry, self.after, self.before) = (collection, expiry, after, before)
  }

  /// What is overdue now, but for what had its answer in the last pass over the collection.
  package init(_ collection: String, _ expiry: Expiry, at now: Int64, last: Overdue?) {
    let after = last?.expiry == expiry ? last?.after : nil
    var before = Int64.max
    if let age = expiry.age { before = now - age.inMilliseconds }
    self.init(collection, expiry, after: after, before: before)
  }

  /// With the answer that these rows stay. Which rows a condition had found is not known later, so none is
  /// asked for any more.
  package var rejected: Overdue { Overdue(collection, expiry, after: before, before: before) }

  package var pass: String { expiry.pass(over: collection) }

  package var isEmpty: Bool { after.map { $0 >= before } ?? false }

  /// The place in the model, and what does not fit the table there.
  package func misfit(_ reason: String) -> ModelProblem {
    let key = expiry.isOfMarks ? "softDelete" : "expires"
    return ModelProblem(path: "\(ModelProblem.path(of: collection)).\(key)", message: reason)
  }
}

extension Expiry {
  /// Of passes over a collection: each has its last one.
  package func pass(over collection: String) -> String {
    isOfMarks ? "softDelete of \(collection)" : collection
  }
}

/// What does not let a collection's rows go by their age.
package struct UnfitExpiry: Error, CustomStringConvertible {
  package let problem: ModelProblem
  package init(_ problem: ModelProblem) { self.problem = problem }
  package var description: String { problem.description }
}

/// The passes over collections with overdue rows that have begun, or still go on, by their jobs.
package struct BegunPasses: Sendable {
  package var jobs: [Int64] = []
  package var unfit: [Reason] = []
  package init() {}
}

/// How much is overdue.
package struct OverdueCount: Hashable, Sendable {
  package var waiting = 0
  /// How long the first of them has been overdue, in milliseconds; nil if none has a time.
  package var oldest: Int64?

  package init(waiting: Int = 0, oldest: Int64? = nil) {
    (self.waiting, self.oldest) = (waiting, oldest)
  }

  package mutating func add(_ other: OverdueCount) {
    waiting += other.waiting
    oldest = [oldest, other.oldest].compactMap(\.self).max()
  }
}

// MARK: - As JSON

extension Overdue {
  package var json: JSON {
    [
      "overdue": .string(pass), "collection": .string(collection), "expires": expiry.json,
      "after": after.map(JSON.integer) ?? .null, "before": .integer(before),
    ]
  }

  package init?(_ json: JSON) {
    guard let pass = json["overdue"]?.string, let before = json["before"]?.integer,
      let expiry = json["expires"].flatMap(Expiry.init)
    else { return nil }
    let collection = json["collection"]?.string ?? pass
    self.init(collection, expiry, after: json["after"]?.integer, before: before)
  }
}
