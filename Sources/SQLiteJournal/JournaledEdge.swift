internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables

/// An edge as a journal row `o` recorded it.
package struct JournaledEdge {
  /// What to join to get the elements of a list.
  package let elementsJoin: String
  package let reference: String
  package var isEdge: String
}

extension Binding {
  /// The edges of a relation as the rows of a watch recorded them: in the values that hold them
  /// today, or in those that held them then, if no other relation for the same edges holds them
  /// there.
  package func journaledEdge(
    _ relation: EdgeRelation, in watch: Watch, _ db: borrowing Connection
  ) throws -> [JournaledEdge] {
    let (values, edges) = (watch.meaning.values, watch.meaning.edges)
    if watch.meaning.watchSubject == relation.watchSubject,
      let today = relation.edge(in: values), edges.contains(today)
    {
      return [relation.journaledEdge(today, values)]
    }
    let others = Set(
      edgeRelations(like: relation).filter { $0 != relation }.compactMap { $0.edge(in: values) })
    return try edges.filter { edge in
      edge.name == relation.nameId && edge.source == relation.source.id
        && edge.destination == relation.destination.id && !others.contains(edge)
    }.map { try relation.journaledEdge($0, in: watch, db) }
  }
}

extension EdgeRelation {
  fileprivate func journaledEdge(_ edge: WatchedEdge, _ values: [WatchedValue]) -> JournaledEdge {
    let columns = edge.values.map { "o.\(Watch.columns[$0])" }
    if case .json = values[edge.values[0]] {
      return JournaledEdge(
        elementsJoin: elements(of: columns[0], at: "$", as: "y"),
        reference: destination.asKey("y.value"), isEdge: isReference(element: "y"))
    }
    let isOfType = edge.type.map { " AND \(columns[1]) = \(literal($0))" } ?? ""
    let old = Reference(columns[0], like: reference)
    // Several values were written as the list of a key.
    let key = old.hasSeveralValues ? columns[0] : destination.asKey(old)
    return JournaledEdge(elementsJoin: "", reference: key, isEdge: isReference(old) + isOfType)
  }

  /// An edge that another relation held. If that relation still holds it, the row was journaled
  /// because of another value, and the edge was not removed.
  fileprivate func journaledEdge(
    _ edge: WatchedEdge, in watch: Watch, _ db: borrowing Connection
  ) throws -> JournaledEdge {
    var (old, former) = (journaledEdge(edge, watch.meaning.values), self)
    let said = edge.values.map { watch.meaning.values[$0] }
    if let form = try formerForm(said, edge.type, watch.meaning.watchSubject, db) {
      former.form = form
      old.isEdge += " AND NOT EXISTS (\(former.stillRefers(old)))"
    }
    return old
  }

  /// Where such edges were; nil if the table or the column no longer exists under that name.
  private func formerForm(
    _ said: [WatchedValue], _ type: String?, _ subject: Watch.Subject, _ db: borrowing Connection
  ) throws -> Form? {
    if case .joins(let table, let source) = subject {
      let join = try Catalog(db).table(table, in: db)
      guard case .success(let join) = join, join.has(source + said[0].columns) else { return nil }
      return .join(join, source: source, destination: said[0].columns)
    }
    guard source.table?.has(said.flatMap(\.columns)) == true else { return nil }
    switch said[0] {
    case .columns:
      return .column(
        said[0].columns,
        type: type.map { PolymorphicType(column: said[1].columns[0], word: $0) })
    case .json(let column, let path):
      return .json(column: column, path: path)
    }
  }

  /// A query for whether the source refers to the same destination now.
  func stillRefers(_ old: JournaledEdge) -> String { edge(fromKey: "o.key", toKey: old.reference) }
}

extension Table {
  fileprivate func has(_ names: [String]) -> Bool { names.allSatisfy { column($0) != nil } }
}
