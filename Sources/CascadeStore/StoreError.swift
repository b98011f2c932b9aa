/// Why a store has to be waited for: another program has it, or it is not there now.
package struct StoreAway: Error, CustomStringConvertible {
  package let description: String
  /// After which time at most to look again.
  package let longestWait: Duration

  package init(_ description: String, lookAgain longestWait: Duration = .seconds(2)) {
    (self.description, self.longestWait) = (description, longestWait)
  }
}

/// Why a store cannot be served in its present state.
package struct StoreError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }

  package static let detached = StoreError(
    "detached: the store has no tables of Cascade; `cascadectl attach` adds them again")
}
