package import CascadeModel

/// A node that a batch took, under the number that the daemon gave it.
package struct DeletedNode: Sendable {
  package enum Cause: String, Sendable {
    case application, file, sweep, job, expired, erased

    /// What deleted a node of a batch; `isOwn`: Cascade did, and not the application.
    package init(_ batch: Submission.Kind, isOwn: Bool) {
      self = isOwn ? Cause(rawValue: batch.rawValue) ?? .sweep : .application
    }
  }

  package let number: Int64
  package let collection: String
  /// Nil for a node that was erased.
  package let key: Key?
  package let at: Int64
  package let batch: Int64
  package let cause: Cause
  package let author: String?
  /// Whether it can come back.
  package let isKept: Bool
  /// The row, or the object, where it was asked for, and is kept.
  package var value: JSON?

  package init(
    number: Int64, collection: String, key: Key?, at: Int64, batch: Int64, cause: Cause,
    author: String?, isKept: Bool
  ) {
    (self.number, self.collection, self.key, self.at) = (number, collection, key, at)
    (self.batch, self.cause, self.isKept) = (batch, cause, isKept)
    // An application leaves no name, and a sweep runs by itself.
    self.author = [.application, .sweep].contains(cause) ? nil : author
  }

  package var json: JSON {
    let node = key.map { Node(collection, $0).json } ?? [.string(collection)]
    let fields: JSON = [
      "deleted": .integer(number), "node": node, "at": .integer(at), "batch": .integer(batch),
      "cause": .string(cause.rawValue), "author": author.map(JSON.string) ?? .null,
      "kept": .bool(isKept),
    ]
    guard let value, case .object(let members) = fields else { return fields }
    return .object(members + [JSON.Field("value", value)])
  }
}

/// Which deleted nodes are asked for.
package struct DeletedQuery: Sendable {
  package var collection: String?
  /// Behind which number; nil for all that are known.
  package var after: Int64?
  package var hasValues = false

  package init(_ collection: String? = nil, after: Int64? = nil, hasValues: Bool = false) {
    (self.collection, self.after, self.hasValues) = (collection, after, hasValues)
  }
}

package struct DeletedPage: Sendable {
  package let nodes: [DeletedNode]
  /// The number behind which the next page begins.
  package let end: Int64
  /// Whether there is more already.
  package let isFull: Bool

  /// `last` is the last number there is; what went up to `forgotten` is not known any more.
  package init(
    _ query: DeletedQuery, of limit: Int, forgotten: Int64?, last: Int64?,
    nodes read: (_ number: Int64) throws -> [DeletedNode]
  ) throws {
    let (forgotten, last) = (forgotten ?? 0, last ?? 0)
    try DeletedForgotten.refuse(query.after, forgottenUpTo: forgotten)
    let number = query.after ?? forgotten
    nodes = try read(number)
    isFull = nodes.count >= limit
    end = isFull ? nodes.last?.number ?? number : max(number, last)
  }
}

/// What went up to a number is not known any more.
package struct DeletedForgotten: Error, CustomStringConvertible {
  package let end: Int64

  /// Throws where something behind a number was forgotten.
  fileprivate static func refuse(_ number: Int64?, forgottenUpTo end: Int64) throws {
    if let number, number < end { throw DeletedForgotten(end: end) }
  }

  package var description: String {
    "what went up to \(end) is not known any more (keep.deleted): something may have been missed"
  }
}
