package import CascadeSQLite
package import CascadeSystem

/// Why a file cannot be inspected.
package struct InspectError: Error, Hashable, CustomStringConvertible {
  package enum Kind: Sendable {
    case missing, noDatabase, busy, notAllowed, unreadable
  }

  package let kind: Kind
  package let description: String

  package init(_ kind: Kind, _ description: String) {
    self.kind = kind
    self.description = description
  }

  package init(_ error: SQLiteError, at path: String) {
    if error.needsRecovery {
      self.init(
        .busy, "\(path) was left by a crash as it was: the application has to open it first")
    } else if error.isBusy {
      self.init(.busy, "\(path) is locked by another program: try again later")
    } else if error.isNoDatabase {
      self = .noDatabase(path)
    } else if error.isDamage {
      self.init(.noDatabase, "\(path) is damaged: \(error.message)")
    } else {
      self.init(.unreadable, "\(path) cannot be read: \(error)")
    }
  }

  package init(_ error: SystemError, at path: String) {
    if error.isNotAllowed {
      self.init(.notAllowed, "this user may not read \(error.path ?? path)")
    } else {
      self.init(.unreadable, "\(error)")
    }
  }

  static func noDatabase(_ path: String) -> InspectError {
    InspectError(.noDatabase, "\(path) is no SQLite database, or it is encrypted")
  }
}
