internal import CascadeModel

/// Numbers of nodes, by collection, as an engine stores them with a plan.
extension [String: Int] {
  /// A text that is none has no counts.
  package init(counts text: String) {
    let fields = (try? JSON.parse(text))?.object ?? []
    self.init(fields.map { ($0.name, Int($0.value.integer ?? 0)) }, uniquingKeysWith: +)
  }

  package var countText: String {
    JSON.object(sorted { $0.key < $1.key }.map { JSON.Field($0.key, .integer(Int64($0.value))) })
      .text
  }
}
