internal import CascadeModel

/// A deletion that was begun, with all that follows. It goes in steps, and on after a restart.
public struct DeletionJob: Hashable, Sendable {
  /// How far it is.
  public enum State: String, Hashable, Sendable {
    /// It runs, or waits for its turn.
    case running
    /// It would delete so much that it waits for approval.
    case held
    /// Something has to stay: nothing was deleted.
    case blocked
    /// It has ended.
    case done
    /// It was cancelled. What it has deleted is its batch.
    case cancelled
  }

  /// The number, which ``Store/cancel(_:)`` and ``Store/progress(of:)`` go by.
  public let number: Int
  /// How far it is.
  public let state: State
  /// How many nodes are gone.
  public let deletedCount: Int
  /// How many there are to delete; nil until that is known.
  public let total: Int?
  /// How many nodes are gone, by collection.
  public let byCollection: [String: Int]
  /// What ``Store/undo(batch:)`` takes.
  public let batch: Int?
  /// What ``Store/approve(_:)`` and ``Store/reject(_:)`` take, if it is held.
  public let plan: Int?
  /// Why something has to stay.
  public let blocked: [Reason]

  init(_ json: JSON?) throws(AskError) {
    guard let json, let number = json["job"]?.int,
      let state = json["state"]?.string.flatMap(State.init)
    else { throw .unreadable("an unknown state of a job: \(json?.text ?? "none")") }
    (self.number, self.state) = (number, state)
    deletedCount = json["deletedCount"]?.int ?? 0
    total = json["of"]?.int
    byCollection = json["byCollection"]?.counts ?? [:]
    batch = json["batch"]?.int
    plan = json["plan"]?.int
    blocked = (json["blocked"]?.array ?? []).compactMap { Reason($0) }
  }
}

extension Store {
  /// Begins to delete nodes, with all that follows, and returns when that is written down. Then it goes on
  /// without this program; ``progress(of:)`` follows it.
  ///
  /// - Parameters:
  ///   - ids: The nodes to begin with.
  ///   - expected: How many nodes may go without an approval, as ``plan(_:)`` has counted.
  ///   - isPartial: Whether the rest goes where something has to stay.
  @discardableResult
  public func delete<each M: Model>(
    _ ids: repeat ID<each M>, expecting expected: Int? = nil, partial isPartial: Bool = false
  ) async throws(AskError) -> DeletionJob {
    try await begin(["nodes": .array(names(repeat each ids))], expected, isPartial)
  }

  /// Begins to delete the values of a model for which an SQL expression over the columns of the row holds,
  /// with all that follows.
  @discardableResult
  public func delete<M: Model>(
    _ model: M.Type, where condition: String, expecting expected: Int? = nil,
    partial isPartial: Bool = false
  ) async throws(AskError) -> DeletionJob {
    try await begin(
      ["collection": .string(M.collection.name), "where": .string(condition)], expected, isPartial)
  }

  private func begin(
    _ subject: JSON, _ expected: Int?, _ isPartial: Bool
  ) async throws(AskError) -> DeletionJob {
    guard case .object(var fields) = subject else { throw .unreadable(subject.text) }
    fields.append(JSON.Field("partial", .bool(isPartial)))
    fields.append(JSON.Field("wait", .bool(false)))
    if let expected { fields.append(JSON.Field("expect", .integer(Int64(expected)))) }
    return try DeletionJob(await ask("Delete", .object(fields))["job"])
  }

  /// The jobs after a number, the oldest first: a thousand at most.
  public func jobs(after number: Int = 0) async throws(AskError) -> [DeletionJob] {
    var jobs: [DeletionJob] = []
    let reply = try await ask("Jobs", ["after": .integer(Int64(number))])
    for json in reply["jobs"]?.array ?? [] { jobs.append(try DeletionJob(json)) }
    return jobs
  }

  /// Ends a job. What it has deleted is its batch.
  @discardableResult
  public func cancel(_ job: DeletionJob) async throws(AskError) -> DeletionJob {
    try DeletionJob(await ask("Cancel", ["job": .integer(Int64(job.number))])["job"])
  }

  /// The states of a job as it goes on. The last one is that in which it has ended, or waits for approval.
  public func progress(of job: DeletionJob) -> JobProgress { JobProgress(store: self, job: job) }
}

/// The states of a job as it goes on.
public struct JobProgress: AsyncSequence, Sendable {
  /// The job as it is by then.
  public typealias Element = DeletionJob
  /// What is thrown when the daemon is away.
  public typealias Failure = AskError

  let store: Store
  let job: DeletionJob

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator { Iterator(store: store, job: job) }

  /// Follows a job.
  public struct Iterator: AsyncIteratorProtocol {
    let store: Store
    let job: DeletionJob
    private var last: DeletionJob?
    private static let interval = Duration.milliseconds(100)

    init(store: Store, job: DeletionJob) { (self.store, self.job) = (store, job) }

    /// The job when something has changed; nil when it does not run any more, or the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AskError) -> DeletionJob? {
      if let last, last.state != .running { return nil }
      while true {
        let jobs = try await store.jobs(after: job.number - 1)
        guard let now = jobs.first, now.number == job.number else { return nil }
        if now != last {
          last = now
          return now
        }
        do { try await Task.sleep(for: Iterator.interval) } catch { return nil }
      }
    }

    /// The job when something has changed; nil when it does not run any more, or the task was cancelled.
    public mutating func next() async throws(AskError) -> DeletionJob? {
      try await next(isolation: nil)
    }
  }
}

extension JSON {
  fileprivate var counts: [String: Int]? {
    guard case .object(let fields) = self else { return nil }
    return Dictionary(fields.map { ($0.name, $0.value.int ?? 0) }, uniquingKeysWith: { $1 })
  }
}
