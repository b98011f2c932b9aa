/// What others wrote to a store. It is compared with an earlier one.
package struct StoreNews: Hashable, Sendable {
  /// Changes with every commit of another connection.
  package let commits: Int64
  /// The position of what the application's triggers wrote in response to the store's own writes;
  /// nil if they wrote nothing that is still to be examined.
  package let responses: Int64?

  package init(commits: Int64, responses: Int64?) {
    self.commits = commits
    self.responses = responses
  }
}

/// How much tidying there is time for.
package enum Tidying: Sendable {
  /// Only what cannot wait.
  case urgent
  /// There is nothing else to do.
  case atLeisure
  /// Until a copy of the store's main file alone is complete, unless a reader prevents it.
  case complete
}
