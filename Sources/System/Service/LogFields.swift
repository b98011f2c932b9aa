/// The fields that messages carry. All of them are here: the catalog and operators' filters depend
/// on the names.
package struct LogField: Hashable, Sendable {
  package let name: String
  private init(_ name: String) { self.name = name }

  package static let store = LogField("CASCADE_STORE")
  package static let sweep = LogField("CASCADE_SWEEP")
  package static let batch = LogField("CASCADE_BATCH")
  package static let author = LogField("CASCADE_AUTHOR")
  package static let deleted = LogField("CASCADE_DELETED")
  package static let trigger = LogField("CASCADE_TRIGGER")
  package static let file = LogField("CASCADE_FILE")
  package static let plan = LogField("CASCADE_PLAN")
  package static let reason = LogField("CASCADE_REASON")
  package static let milliseconds = LogField("CASCADE_MILLISECONDS")
  package static let peerUser = LogField("CASCADE_PEER_UID")
  package static let peerProcess = LogField("CASCADE_PEER_PID")
  package static let method = LogField("CASCADE_METHOD")
  package static let sqliteCode = LogField("CASCADE_SQLITE_CODE")
  package static let errno = LogField("ERRNO")
}

/// What a message is about, for the catalog: 32 lower-case hexadecimal digits.
package struct LogMessageID: Hashable, Sendable {
  package let text: String

  package init(_ text: StaticString) {
    self.text = "\(text)"
    assert(self.text.utf8.count == 32)
  }
}
