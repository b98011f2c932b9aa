extension Int {
  /// The number with its noun: `1 node`, `2 nodes`.
  package func counted(_ one: String, _ many: String) -> String {
    "\(self) \(self == 1 ? one : many)"
  }
}
