package import CascadeModel

/// A deletion that begins here: nodes that are named, or overdue, with all that follows.
package struct DeletionJob: Sendable {
  package enum State: String, Sendable {
    case running, held, blocked, done, cancelled

    /// Those of a job that has not ended.
    package static let open: [State] = [.running, .held]
  }

  /// What it begins with.
  package enum Subject: Hashable, Sendable {
    case nodes([Node])
    /// The rows of a collection for which an SQL expression holds.
    case rows(collection: String, condition: String)
    /// A pass over a collection.
    case overdue(Overdue)
    /// What follows from marks that were seen, those behind the number `after` and up to `upTo`. Nothing is
    /// deleted then, but marked.
    case marks(after: Int64, upTo: Int64)
  }

  package struct Request: Hashable, Sendable {
    package var subject: Subject
    package let author: String
    /// How many nodes may go without an approval, as a dry run has counted.
    package var expected: Int?
    /// Whether the rest goes where something has to stay.
    package var isPartial: Bool
    /// Set where nothing of what goes may be left.
    package var erasure: Erasure?

    package init(
      _ subject: Subject, by author: String, expecting expected: Int? = nil,
      isPartial: Bool = false
    ) {
      (self.subject, self.author) = (subject, author)
      (self.expected, self.isPartial) = (expected, isPartial)
    }
  }

  /// What an erasure tells at its end.
  package struct Erasure: Hashable, Sendable {
    /// How many nodes there were of each collection.
    package var before: [String: Int] = [:]
    /// How many rows still have a key of what went, in a column that the model covers; nil until that was
    /// asked.
    package var referring: Int?

    package init() {}
  }

  package let number: Int64
  package var request: Request
  package let at: Int64
  package var state = State.running
  /// What went so far, and how much there was to go.
  package var deletedCount = 0
  package var total: Int?
  package var byCollection: [String: Int] = [:]
  package var batch: Int64?
  package var plan: Int64?
  /// How many nodes an operator has approved for it; for a pass, `standing` is how many were approved for one
  /// before it.
  package var approved: Int?
  package var standing: Int?
  /// Why something has to stay, as `Reason.json`.
  package var blocked: [JSON] = []

  package init(number: Int64, request: Request, at: Int64) {
    (self.number, self.request, self.at) = (number, request, at)
  }

  package var isOpen: Bool { State.open.contains(state) }

  /// The number up to which it follows marks; nil if it follows none.
  package var lastMark: Int64? {
    if case .marks(_, let last) = request.subject { last } else { nil }
  }

  package var overdue: Overdue? {
    if case .overdue(let overdue) = request.subject { overdue } else { nil }
  }

  /// Of its batch, in the ledger.
  package var kind: Submission.Kind {
    switch request.subject {
    case .overdue: .expired
    case .marks: .marked
    case .nodes, .rows: request.erasure == nil ? .job : .erased
    }
  }

  /// How its batch is entered in the ledger.
  package func submission(at now: Int64) -> Submission {
    // A job that follows marks is forgotten soon.
    let number = kind == .marked ? batch ?? number : number
    return Submission(kind, id: "\(kind.rawValue)-\(number)", by: request.author, at: now)
  }

  /// How a store keeps its plan.
  package var planFile: String { DeletionJob.planFile(number) }
  package static func planFile(_ job: Int64) -> String { "/job \(job)" }

  /// The job of a plan; nil if it is of something else.
  package static func job(ofPlanFile file: String) -> Int64? {
    file.hasPrefix("/job ") ? Int64(file.dropFirst(5)) : nil
  }
}

/// What is no condition for rows that are to be deleted.
package struct IllegalCondition: Error, CustomStringConvertible {
  let reason: String
  package init(reason: String) { self.reason = reason }
  package var description: String { "the condition cannot be used: \(reason)" }

  /// Refuses a text that would not stay one expression in parentheses. The database checks the rest.
  package static func refuse(unlessExpression text: String) throws {
    do {
      guard let variable = try SQLExpression(text).variables.first else { return }
      throw IllegalCondition(reason: "\"$\(variable.base)\" is not allowed here")
    } catch let error as SQLExpression.Illegal {
      throw IllegalCondition(reason: error.description)
    }
  }
}

// MARK: - As JSON

extension DeletionJob.Subject {
  package var json: JSON {
    switch self {
    case .nodes(let nodes): ["nodes": .array(nodes.map(\.json))]
    case .rows(let collection, let condition):
      ["collection": .string(collection), "where": .string(condition)]
    case .overdue(let overdue): overdue.json
    case .marks(let after, let last): ["marks": .array([.integer(after), .integer(last)])]
    }
  }

  package init?(_ json: JSON) {
    if let nodes = json["nodes"]?.array {
      self = .nodes(nodes.compactMap(Node.init(json:)))
    } else if let collection = json["collection"]?.string, let condition = json["where"]?.string {
      self = .rows(collection: collection, condition: condition)
    } else if let ends = json["marks"]?.array?.compactMap(\.integer), ends.count == 2 {
      self = .marks(after: ends[0], upTo: ends[1])
    } else if let overdue = Overdue(json) {
      self = .overdue(overdue)
    } else {
      return nil
    }
  }
}

extension DeletionJob.Request {
  /// The subject, as a store keeps it.
  package var subjectText: String {
    guard let erasure, case .object(let members) = subject.json else { return subject.json.text }
    return JSON.object(members + [JSON.Field("erase", erasure.json)]).text
  }

  package init(subject text: String, by author: String, isPartial: Bool) {
    let json = (try? JSON.parse(text)) ?? .null
    self.init(DeletionJob.Subject(json) ?? .nodes([]), by: author, isPartial: isPartial)
    erasure = json["erase"].map(DeletionJob.Erasure.init)
  }
}

extension DeletionJob.Erasure {
  fileprivate var json: JSON {
    [
      "before": .object(before.map { JSON.Field($0.key, .integer(Int64($0.value))) }),
      "referring": referring.map { .integer(Int64($0)) } ?? .null,
    ]
  }

  fileprivate init(_ json: JSON) {
    for (name, count) in (json["before"]?.object ?? []).map({ ($0.name, $0.value.integer) }) {
      before[name] = Int(count ?? 0)
    }
    referring = json["referring"]?.integer.map { Int($0) }
  }
}
