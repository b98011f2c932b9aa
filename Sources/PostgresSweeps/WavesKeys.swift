internal import CascadeModel
internal import CascadePostgres
package import PostgresBinding
internal import PostgresTables

/// What has gone in a batch, for conditions.
extension Waves {
  /// Which rows refer to nodes that are gone, and have lost that reference; `untold`: in this batch.
  func hasLostGone(
    _ relation: EdgeRelation, untold: Bool = false, where condition: String = "true"
  ) throws -> RowRemoval.Selection {
    try store.selection(
      relation, gone(relation.destination, untold: untold),
      ofQuery: { relation.hasLost(anyOf: $0, where: condition) },
      ofArray: { relation.hasLost(any: $0, where: condition) })
  }

  /// Each key is looked for once, and not for each row that refers to it.
  func hasLost(
    _ relation: EdgeRelation, any array: String, where condition: String
  ) -> String {
    guard let columns = relation.columns, relation.isPlain else {
      return relation.hasLost(any: array, where: condition)
    }
    let lost = """
      ARRAY(SELECT n.key FROM unnest(\(array)::text[]) n(key)
        WHERE NOT \(relation.destination.has("n.key")))
      """
    return "\(columns.isAny("s", lost)) AND \(condition)"
  }

  /// The keys of a table that are gone. `untold`: without those that earlier batches told of;
  /// `unsettled`: without those to which no transaction can refer any more that did not see them go.
  package func gone(
    _ table: MappedTable, untold: Bool = false, unsettled: Bool = false
  ) -> String {
    """
    SELECT j.key FROM cascade.work j
    WHERE j.what = \(JournalSubject.gone.rawValue) AND j.subject = \(table.number) AND j.done
    AND j.batch = \(batch)\(untold ? " AND NOT j.told" : "")
    UNION ALL SELECT unnest(k.keys) FROM cascade.deleted k
    WHERE k.batch = \(batch) AND k.collection = \(table.number) AND k.follows
    AND k.id > \(work.last)\(unsettled ? settled.andNotSettled(table.number) : "")
    """
  }

  package func isDone(_ what: JournalSubject, _ relation: EdgeRelation) -> String {
    """
    j.what = \(what.rawValue) AND j.subject = \(relation.number) AND j.done
    AND j.batch = \(batch)
    """
  }
}

extension StoreConnection {
  /// Whether an edge leads to one of the keys that a query returns, with its values.
  func leads(_ relation: EdgeRelation, toAnyOf keys: String) throws -> RowRemoval.Selection {
    try selection(
      relation, keys, ofQuery: { relation.leads(toAnyOf: $0) },
      ofArray: { relation.leads(toAny: $0) })
  }

  /// The keys of lists are read first: with them, an index is used.
  fileprivate func selection(
    _ relation: EdgeRelation, _ keys: String, ofQuery: (String) -> String,
    ofArray: (String) -> String
  ) throws -> RowRemoval.Selection {
    if relation.list == nil {
      return RowRemoval.Selection(row: "s", condition: ofQuery(keys))
    }
    return RowRemoval.Selection(
      row: "s", condition: ofArray("$1"), values: [arrayText(try db.run(keys).texts)])
  }
}
