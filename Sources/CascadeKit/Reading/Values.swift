extension Store {
  /// An answer now, and again whenever any process has committed something that changes it. States
  /// in between may be left out; the last one never is, and none comes after a later one.
  public func values<T: Sendable & Equatable>(
    of body: @escaping @Sendable (borrowing Snapshot) throws -> T
  ) -> StoreValues<T> { StoreValues(store: self, isSame: { $0 == $1 }, body: body) }

  /// An answer now, and again after each commit of any process, also if it is the same.
  public func values<T: Sendable>(
    of body: @escaping @Sendable (borrowing Snapshot) throws -> T
  ) -> StoreValues<T> { StoreValues(store: self, isSame: { _, _ in false }, body: body) }
}

/// The answers to a question, as the store changes. Made by ``Store/values(of:)``.
public struct StoreValues<Element: Sendable>: AsyncSequence, Sendable {
  let store: Store
  let isSame: @Sendable (Element, Element) -> Bool
  let body: @Sendable (borrowing Snapshot) throws -> Element

  /// Begins to watch.
  public func makeAsyncIterator() -> Iterator { Iterator(self) }

  /// Watches a store.
  public struct Iterator: AsyncIteratorProtocol {
    private let values: StoreValues
    private var ticks: AsyncStream<Void>.Iterator
    private var last: Element?

    init(_ values: StoreValues) {
      self.values = values
      ticks = values.store.commits.ticks().makeAsyncIterator()
    }

    /// The next answer; nil if the task was cancelled.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws -> Element? {
      while await ticks.next(isolation: actor) != nil {
        let value = try await values.store.read(values.body)
        if let last, values.isSame(last, value) { continue }
        last = value
        return value
      }
      return nil
    }

    /// The next answer; nil if the task was cancelled.
    public mutating func next() async throws -> Element? { try await next(isolation: nil) }
  }
}
