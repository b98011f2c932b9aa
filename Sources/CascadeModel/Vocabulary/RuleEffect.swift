/// One of the two ends of an edge.
package enum EdgeEnd: String, CaseIterable, Hashable, Sendable {
  case source, destination

  package var other: EdgeEnd { self == .source ? .destination : .source }

  /// The rule that denies the deletion of nodes at this end.
  package var denial: Rules { self == .source ? .denySourceDeletion : .denyDestinationDeletion }
}

/// What one rule does. Statements and sets of rules are made from this table.
package struct RuleEffect: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case notify
    case delete
    /// Deletes a node that has lost its last edge of the name.
    case deleteLast
    case nullify
    case deny
  }

  package let rule: Rules
  package let kind: Kind
  /// The rule applies when this end of an edge goes.
  package let lostEnd: EdgeEnd

  /// The end that is deleted, changed, notified or kept.
  package var affectedEnd: EdgeEnd { kind == .deny ? lostEnd : lostEnd.other }

  /// The rule's bit, as it is written in SQL.
  package var bit: Int64 { rule.rawValue }

  package static let all: [RuleEffect] = [
    RuleEffect(.notifyIfSourceDeleted, .notify, losing: .source),
    RuleEffect(.notifyIfDestinationDeleted, .notify, losing: .destination),
    RuleEffect(.deleteSourceIfDestinationDeleted, .delete, losing: .destination),
    RuleEffect(.deleteDestinationIfSourceDeleted, .delete, losing: .source),
    RuleEffect(.deleteSourceIfAllDestinationsDeleted, .deleteLast, losing: .destination),
    RuleEffect(.deleteDestinationIfAllSourcesDeleted, .deleteLast, losing: .source),
    RuleEffect(.nullifySourceIfDestinationDeleted, .nullify, losing: .destination),
    RuleEffect(.denyDestinationDeletion, .deny, losing: .destination),
    RuleEffect(.denySourceDeletion, .deny, losing: .source),
  ]

  /// The effects of one kind, that of a lost source first.
  package static func all(_ kind: Kind) -> [RuleEffect] { byKind[kind]! }

  private static let byKind = Dictionary(grouping: all, by: \.kind).mapValues { effects in
    EdgeEnd.allCases.flatMap { end in effects.filter { $0.lostEnd == end } }
  }

  private init(_ rule: Rules, _ kind: Kind, losing lostEnd: EdgeEnd) {
    (self.rule, self.kind, self.lostEnd) = (rule, kind, lostEnd)
  }
}

extension Rules {
  /// The rules that have one of these effects when one of these ends goes.
  private init(_ kinds: RuleEffect.Kind..., losing ends: [EdgeEnd] = EdgeEnd.allCases) {
    self = RuleEffect.all.reduce(into: []) {
      if kinds.contains($1.kind) && ends.contains($1.lostEnd) { $0.insert($1.rule) }
    }
  }

  package static let notifying = Rules(.notify)
  package static let cascading = Rules(.delete)
  package static let counting = Rules(.deleteLast)
  package static let denying = Rules(.deny)

  /// The rules that delete the other end.
  package static func deleting(losing end: EdgeEnd) -> Rules {
    end == .source ? ofLostSource : ofLostDestination
  }

  /// The rules that delete a destination after its source.
  package static let ofLostSource = Rules(.delete, .deleteLast, losing: [.source])

  /// The rules that delete a source after its destination.
  package static let ofLostDestination = Rules(.delete, .deleteLast, losing: [.destination])

  /// The rules by which a source that stays keeps its destination: it cannot be without it, or denies its
  /// deletion.
  package static let needingDestination = ofLostDestination.union(.denyDestinationDeletion)

  /// The rules that change or notify the other end, or delete it.
  package static func following(losing end: EdgeEnd) -> Rules {
    end == .source ? followingSource : followingDestination
  }

  private static let followingSource = Rules(
    .notify, .delete, .deleteLast, .nullify, losing: [.source])
  private static let followingDestination = Rules(
    .notify, .delete, .deleteLast, .nullify, losing: [.destination])

  /// The names of rules that contradict each other; nil if none do. An edge may have at most one
  /// answer to the loss of an end. Notices combine with any answer.
  package var conflict: [String]? {
    Rules.answers.map(intersection).first { $0.rawValue.nonzeroBitCount > 1 }?.names
  }

  private static let answers = [EdgeEnd.destination, .source].map {
    Rules(.delete, .deleteLast, .nullify, .deny, losing: [$0])
  }
}
