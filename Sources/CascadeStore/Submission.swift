internal import CascadeModel

/// A change file that is being applied.
package struct Submission: Sendable {
  package var id: String
  package var author: String?
  package var fingerprint: Int64
  /// In milliseconds since 1970.
  package var at: Int64
  /// Which part of a file of many transactions this is; `line` is the line after the part.
  package var part: Int64 = 0

  /// What an entry of the ledger is of.
  package enum Kind: String, CaseIterable, Sendable {
    case file, sweep, job, expired, protection, erased, marked

    /// No part of a file has that of another kind, so a file may have the same id as a sweep.
    package var part: Int64 {
      switch self {
      case .file: 0
      case .sweep: -1
      case .job: -2
      case .expired: -3
      case .protection: -4
      case .erased: -5
      case .marked: -6
      }
    }

    package init(part: Int64) { self = Kind.allCases.first { $0.part == part } ?? .file }
  }

  package var isLast = true
  package var line: Int64 = 0
  /// Whether a node that it writes may go because an edge that it gives leads nowhere, where a change
  /// does not say it.
  package var mayDeleteItself = true

  /// What the daemon did in a batch, under a name of its own.
  package init(_ kind: Kind, id: String, by author: String?, at: Int64) {
    self.init(id: id, author: author, fingerprint: 0, at: at)
    part = kind.part
  }

  package init(id: String, author: String?, fingerprint: Int64, at: Int64) {
    self.id = id
    self.author = author
    self.fingerprint = fingerprint
    self.at = at
  }
}

/// What the ledger has of an id.
package struct LedgerEntry: Sendable {
  package let batch: Int64
  package let part: Int64
  package let fingerprint: Int64
  package let isComplete: Bool
  package let line: Int64
  /// What the transactions of the id did, without the list of deleted nodes.
  package let receipt: Receipt

  package init(
    batch: Int64, part: Int64, fingerprint: Int64, isComplete: Bool, line: Int64, receipt: Receipt
  ) {
    self.batch = batch
    self.part = part
    self.fingerprint = fingerprint
    self.isComplete = isComplete
    self.line = line
    self.receipt = receipt
  }
}

extension Submission {
  /// What the ledger has instead of an id that names what was erased: the file takes effect once all the same.
  package static func hashed(_ id: String) -> String {
    "sha256:" + SHA256.hex(id.utf8)
  }
}
