/// Why a store cannot be served in its present state.
package struct StoreError: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }

  package static let detached = StoreError(
    "detached: the store has no tables of Cascade; `cascadectl attach` adds them again")
}
