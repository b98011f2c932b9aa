internal import CascadeModel

/// What a write did.
public struct Receipt: Hashable, Sendable {
  /// What became of a change file.
  public enum Outcome: String, Hashable, Sendable {
    /// It took effect.
    case applied
    /// It had taken effect before, under the same id. The numbers are those of that time.
    case duplicate
    /// It was rejected, and nothing of it took effect.
    case rejected
    /// It would delete so much that it waits for approval.
    case held
  }

  /// The id of the change file.
  public let id: String
  /// What became of it.
  public let outcome: Outcome
  /// What ``Store/undo(_:)`` takes.
  public let batch: Int?
  /// The first 10,000 nodes that were deleted. Empty for a duplicate.
  public let deleted: [NodeName]
  /// The number of all nodes that were deleted; if it is held, that would be deleted.
  public let deletedCount: Int
  /// Of the nodes that the write itself wrote: the first 10,000 that went because a reference that it
  /// gave them leads nowhere. Empty, unless `mayDeleteItself` allowed that.
  public let deletedOwn: [NodeName]
  /// How many edges were added.
  public let edgesAdded: Int
  /// How many edges were removed.
  public let edgesRemoved: Int
  /// How many notices were written.
  public let notices: Int
  /// How many deletes and unlinks found nothing.
  public let passedOver: Int
  /// Why it was rejected or held.
  public let reasons: [Reason]
  /// The number of the plan that waits for approval, if it is held.
  public let plan: Int?

  init?(_ json: JSON?) {
    guard let json, let id = json["id"]?.string,
      let outcome = json["outcome"]?.string.flatMap(Outcome.init)
    else { return nil }
    self.id = id
    self.outcome = outcome
    batch = json["batch"]?.int
    deleted = (json["deleted"]?.array ?? []).compactMap { NodeName($0) }
    deletedCount = json["deletedCount"]?.int ?? 0
    deletedOwn = (json["deletedOwn"]?.array ?? []).compactMap { NodeName($0) }
    edgesAdded = json["edgesAdded"]?.int ?? 0
    edgesRemoved = json["edgesRemoved"]?.int ?? 0
    notices = json["notices"]?.int ?? 0
    passedOver = json["passedOver"]?.int ?? 0
    reasons = (json["reasons"]?.array ?? []).compactMap { Reason($0) }
    plan = json["plan"]?.int
  }
}

/// One reason why a change was refused.
public struct Reason: Hashable, Sendable, CustomStringConvertible {
  /// The kind of reason.
  public enum Code: String, Hashable, Sendable {
    /// The change file breaks a rule of its form.
    case malformed
    /// A change names something that does not exist, or that the model does not allow.
    case invalid
    /// The id was used before, for other changes.
    case idReused
    /// A reference that is not optional is missing.
    case missingMandatory
    /// Too few references.
    case tooFew
    /// Too many references.
    case tooMany
    /// Two sources have the same destination.
    case notUnique
    /// A rule denies the deletion.
    case denied
    /// A node has changed since it was read.
    case changed
    /// A write would delete the very node that it writes.
    case deletesItself
    /// More would be deleted than may go without approval.
    case overLimit
    /// Another reason, which this version of the library does not know.
    case other
  }

  /// The kind of reason.
  public let code: Code
  /// The reason in words.
  public let message: String
  /// The node that it is about.
  public let node: NodeName?
  /// The edge that it is about.
  public let edge: EdgeName?
  /// Which change it is about: `changes[3]`.
  public let path: String?

  init?(_ json: JSON) {
    guard let code = json["code"]?.string, let message = json["message"]?.string else { return nil }
    self.code = Code(rawValue: code) ?? .other
    self.message = message
    node = NodeName(json["node"])
    edge = EdgeName(json["edge"])
    path = json["path"]?.string
  }

  /// The reason in words.
  public var description: String { message }
}

extension JSON {
  var int: Int? { integer.flatMap { Int(exactly: $0) } }
}
