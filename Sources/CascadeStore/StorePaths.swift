/// Where a store and its spool are. A sweep of files never moves what lies there.
package struct StorePaths: Sendable {
  package let store: String
  package let spool: String

  package init(store: String, spool: String) {
    self.store = store
    self.spool = spool
  }
}
