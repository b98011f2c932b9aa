internal import CascadeModel
internal import CascadePostgres
package import PostgresTables

/// What has gone in a batch, for conditions.
extension Waves {
  /// Whether an edge leads to one of the keys that a query returns, with its values. The keys of
  /// lists are read first: with them, an index is used.
  package func leads(_ relation: EdgeRelation, toAnyOf keys: String) throws -> RowRemoval.Selection
  {
    if relation.list == nil {
      return RowRemoval.Selection(row: "s", condition: relation.leads(toAnyOf: keys))
    }
    return RowRemoval.Selection(
      row: "s", condition: relation.leads(toAny: "$1"),
      values: [arrayText(try db.run(keys).texts)])
  }

  /// Which rows refer to nodes that are gone, and have lost that reference.
  func hasLostGone(_ relation: EdgeRelation) throws -> RowRemoval.Selection {
    let keys = gone(relation.destination)
    if relation.list == nil {
      return RowRemoval.Selection(row: "s", condition: relation.hasLost(anyOf: keys))
    }
    return RowRemoval.Selection(
      row: "s", condition: relation.hasLost(any: "$1"),
      values: [arrayText(try db.run(keys).texts)])
  }

  /// The keys of a table that are gone. `untold`: without those that earlier batches told of;
  /// `unsettled`: without those to which nobody can refer any more who did not see them go.
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
