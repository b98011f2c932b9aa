/// The fields that messages carry. All are declared here, because the message catalog and the
/// filters of operators depend on their names.
package struct LogField: Hashable, Sendable {
  package let name: String
  /// The name of the field in the JSON of an event.
  package let jsonName: String
  package let isNumber: Bool

  private init(_ name: String, _ jsonName: String, isNumber: Bool = false) {
    (self.name, self.jsonName, self.isNumber) = (name, jsonName, isNumber)
  }

  package static let store = LogField("CASCADE_STORE", "store")
  package static let sweep = LogField("CASCADE_SWEEP", "sweep", isNumber: true)
  package static let batch = LogField("CASCADE_BATCH", "batch", isNumber: true)
  package static let author = LogField("CASCADE_AUTHOR", "author")
  package static let deleted = LogField("CASCADE_DELETED", "deletedCount", isNumber: true)
  package static let longestLock = LogField("CASCADE_LOCK_MAX_MS", "lockMaxMs", isNumber: true)
  package static let file = LogField("CASCADE_FILE", "file")
  package static let plan = LogField("CASCADE_PLAN", "plan", isNumber: true)
  package static let reason = LogField("CASCADE_REASON", "reason")
  package static let peerUser = LogField("CASCADE_PEER_UID", "uid", isNumber: true)
}

/// The kind of a message, for the message catalog: 32 lower-case hexadecimal digits.
package struct LogMessageID: Hashable, Sendable {
  package let text: String
  /// The name of an event of this kind.
  package let name: String

  package init(_ text: StaticString, _ name: StaticString) {
    self.text = "\(text)"
    self.name = "\(name)"
    assert(self.text.utf8.count == 32)
  }
}
