/// A transaction of another process that reads, or has read, a store.
package struct OpenTransaction: Hashable, Sendable {
  package let process: Int32
  /// Tells this transaction from later ones of the process.
  package let mark: Int64

  package init(process: Int32, mark: Int64) {
    self.process = process
    self.mark = mark
  }
}
