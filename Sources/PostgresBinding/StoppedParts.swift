package import CascadeModel
internal import CascadePostgres

/// Parts of the model that the tables do not fit any more: a table has row security, a column has another
/// name, or is not there.
///
/// 1. Such a table stops the relationships that need it, and no others.
/// 2. What triggers write of it they write on, so that it is followed when the table fits again.
/// 3. Nothing is decided without knowing: a denial that cannot be judged refuses the deletion, and what
///    may be counted stays.
/// 4. Applications notice nothing of what never did fit: only a denial that once could be judged is refused.
package struct StoppedParts {
  /// By their collections, with the names that their columns have now.
  package var tables: [String: MappedTable] = [:]
  package var relationships: [StoppedRelationship] = []
  package var files: [FileRelation] = []
  /// Numbers of collections.
  package var collections: [Int64] = []
  /// The roots of which some file may be named that cannot be seen.
  package var roots: Set<String> = []
  /// Tables that lack a column.
  package var mismatched: Set<String> = []
  /// Why rows of a table cannot be read, by its name.
  package var hidden: [String: String] = [:]
  /// Why a collection has no table, or one that cannot be served.
  package var reasons: [String: String] = [:]

  package init() {}

  /// The numbers of relations.
  package var relations: [Int64] { relationships.compactMap(\.number) }
}

/// A relationship between two collections that is stopped.
package struct StoppedRelationship {
  /// Of its relation, in Cascade's own tables; nil if it never did fit.
  package let number: Int64?
  package let name: String
  package let source: String
  package let destination: String
  package let rules: Rules
  package let why: String
  /// Nil if it is not known where its edges are.
  package let relation: EdgeRelation?

  package init(
    number: Int64?, name: String, source: String, destination: String, rules: Rules, why: String,
    relation: EdgeRelation?
  ) {
    (self.number, self.name, self.source) = (number, name, source)
    (self.destination, self.rules, self.why) = (destination, rules, why)
    self.relation = relation
  }

  package func collection(at end: EdgeEnd) -> String { end == .source ? source : destination }

  /// Whether it may deny the deletion of nodes at one end.
  package func denies(at end: EdgeEnd) -> Bool {
    rules.contains(end.denial)
  }

  /// Why a deletion is refused of which it is not known whether a rule denies it.
  package var refusal: String {
    "it cannot be told whether \"\(name)\" from \"\(source)\" denies this deletion: \(why)"
  }
}

extension Binding {
  /// The binding with what is stopped, as far as it is known where that is: for the triggers.
  package var watched: Binding {
    var binding = self
    binding.tables.merge(stopped.tables) { $1 }
    binding.relations += stopped.relationships.compactMap(\.relation)
    binding.files += stopped.files
    return binding
  }

  /// Whether some edges that nodes of the table may have at one end cannot be seen.
  package func isPartlySeen(_ collection: String, at end: EdgeEnd) -> Bool {
    stopped.relationships.contains { $0.collection(at: end) == collection }
  }

  /// Whether a row of the journal, or of `work`, is about something that is stopped, and has to wait.
  package func waits(_ row: String) -> String {
    func isOne(of numbers: [Int64]) -> String {
      "\(row).subject = ANY('\(arrayText(numbers.map { "\($0)" }))'::int[])"
    }
    let ofNodes = "\(row).what = \(JournalSubject.gone.rawValue)"
    let conditions =
      (stopped.collections.isEmpty ? [] : ["\(ofNodes) AND \(isOne(of: stopped.collections))"])
      + (stopped.relations.isEmpty ? [] : ["NOT \(ofNodes) AND \(isOne(of: stopped.relations))"])
    return conditions.isEmpty ? "false" : "(\(conditions.joined(separator: " OR ")))"
  }

  /// Whether rows can be counted that have an edge of the relation's name at this end.
  package func isCountable(_ relation: EdgeRelation, at end: EdgeEnd) -> Bool {
    let table = relation.table(at: end)
    return !stopped.relationships.contains {
      $0.name == relation.name && $0.collection(at: end) == table.collection
    }
  }

  /// Stops the relations that count edges of which some cannot be seen, until no other is found.
  package mutating func stopUncountable() {
    let uncountable = relations.filter { relation in
      relation.rules.contains(.deleteDestinationIfAllSourcesDeleted)
        && !isCountable(relation, at: .destination)
        || relation.rules.contains(.deleteSourceIfAllDestinationsDeleted)
          && !isCountable(relation, at: .source)
    }
    if uncountable.isEmpty { return }
    relations.removeAll { relation in uncountable.contains { $0.number == relation.number } }
    stopped.relationships += uncountable.map { relation in
      StoppedRelationship(
        number: relation.number, name: relation.name, source: relation.source.collection,
        destination: relation.destination.collection, rules: relation.rules,
        why: "other edges of the same name cannot be counted", relation: relation)
    }
    stopUncountable()
  }
}
