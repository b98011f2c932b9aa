/// A root of files that belonged to another store.
package struct TakenRoot: Hashable, Sendable {
  /// In the model.
  package let name: String
  package let path: String
  /// Where the store is that it belonged to.
  package let owner: String

  package init(name: String, path: String, owner: String) {
    (self.name, self.path, self.owner) = (name, path, owner)
  }
}
