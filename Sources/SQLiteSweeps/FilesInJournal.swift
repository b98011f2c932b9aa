package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables
internal import SQLiteJournal

/// Files that lost an edge through changes of other connections that a sweep of edges has not read
/// yet.
package struct FilesInJournal {
  package let root: NodeTable
  /// The paths, to follow SELECT.
  package let path: String
  /// The rest of the query, with rows `o` of the journal.
  package let rows: String

  fileprivate init(_ relation: EdgeRelation, _ watch: Watch, _ old: JournaledEdge) {
    root = relation.destination
    path = old.reference
    rows = """
      FROM main.cascade_journal AS o \(old.elementsJoin)
      WHERE o.what = \(watch.number) AND \(old.isEdge)
      """
  }
}

extension Binding {
  package func filesInJournal(
    _ watches: [Watch], _ db: borrowing Connection
  ) throws -> [FilesInJournal] {
    var found: [FilesInJournal] = []
    for relation in edgeRelations where relation.leadsToFiles {
      for watch in watches {
        found += try journaledEdge(relation, in: watch, db).map {
          FilesInJournal(relation, watch, $0)
        }
      }
    }
    return found
  }
}
