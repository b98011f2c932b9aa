internal import CascadeModel
internal import CascadeVarlink

/// A node that went, under a number that no other one ever has.
public struct DeletedNode: Hashable, Sendable {
  /// What deleted it.
  public enum Cause: String, Hashable, Sendable {
    /// An application, by SQL.
    case application
    /// A change file.
    case file
    /// What follows from an application's deletion.
    case sweep
    /// A job.
    case job
    /// Its age.
    case expired
    /// An erasure.
    case erased
  }

  /// Its number. Causes come before what followed from them.
  public let number: Int
  /// The name of its collection.
  public let collection: String
  /// The node; nil if it was erased.
  public let node: NodeName?
  /// What ``Store/undo(batch:)`` takes.
  public let batch: Int
  /// When its batch ended, in milliseconds since 1970.
  public let at: Int
  /// What deleted it.
  public let cause: Cause
  /// The user or the program that asked for it, if any did.
  public let author: String?
  /// Whether an undo of the batch can bring it back.
  public let isKept: Bool

  init?(_ json: JSON) {
    guard let number = json["deleted"]?.int, let collection = json["node"]?.array?.first?.string,
      let batch = json["batch"]?.int, let cause = json["cause"]?.string.flatMap(Cause.init)
    else { return nil }
    (self.number, self.collection, self.batch, self.cause) = (number, collection, batch, cause)
    node = NodeName(json["node"])
    at = json["at"]?.int ?? 0
    author = json["author"]?.string
    isKept = json["kept"]?.bool ?? false
  }
}

extension Store {
  /// The nodes that went after a number, and then those that go. A program that remembers the last number
  /// that it has done misses none, and does each once. The sequence ends with an error when the daemon ends, and
  /// where what comes after the number is not known any more.
  public func deleted(after number: Int? = nil) -> DeletedNodes {
    DeletedNodes(store: self, after: number)
  }
}

/// Nodes that go, one by one.
public struct DeletedNodes: AsyncSequence, Sendable {
  /// The next one, in the order of the numbers.
  public typealias Element = DeletedNode
  /// What is thrown when the daemon ends.
  public typealias Failure = AskError

  let store: Store
  let after: Int?

  /// Begins to follow.
  public func makeAsyncIterator() -> Iterator { Iterator(store, after) }

  /// Follows what goes in a store.
  public struct Iterator: AsyncIteratorProtocol {
    private let store: Store
    private let after: Int?
    private let worker = Worker<ControlClient>("cascade-deleted")
    private var isStarted = false
    private var page: ArraySlice<DeletedNode> = []

    init(_ store: Store, _ after: Int?) {
      self.store = store
      self.after = after
    }

    /// The next node; nil if the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(AskError) -> DeletedNode? {
      while page.isEmpty {
        let number = after.map { JSON.integer(Int64($0)) } ?? .null
        let parameters: JSON? = isStarted ? nil : ["after": number, "follow": true]
        isStarted = true
        do {
          let reply = try await worker.next("Deleted", parameters) { [store] in
            try store.connect()
          }
          guard let reply else { return nil }
          page = (reply["deleted"]?.array ?? []).compactMap { DeletedNode($0) }[...]
        } catch is CancellationError {
          return nil
        } catch {
          throw AskError(any: error)
        }
      }
      return page.popFirst()
    }

    /// The next node; nil if the task was cancelled.
    public mutating func next() async throws(AskError) -> DeletedNode? {
      try await next(isolation: nil)
    }
  }
}
