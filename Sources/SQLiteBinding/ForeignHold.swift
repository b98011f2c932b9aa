internal import CascadeModel
internal import CascadeEngine
package import CascadeSQLite

/// Rows that block the deletion of the nodes they refer to, because SQLite enforces a foreign key.
package struct ForeignHold: Sendable {
  package let parent: NodeTable
  package let child: Table
  package let key: Table.ForeignKey
  /// Which rows `h` of the child hold, as SQL.
  package let stays: Query

  package init(parent: NodeTable, child: Table, key: Table.ForeignKey, stays: Query) {
    (self.parent, self.child, self.key, self.stays) = (parent, child, key, stays)
  }

  /// Whether such rows hold the row `d` of the parent. Compares by the rules of the parent's
  /// columns, as SQLite does.
  package var holds: Query {
    let columns = key.columns.map { "h.\(quoted($0))" }.joined(separator: ", ")
    let named = key.names(in: parent.table!).map { "d.\(quoted($0))" }.joined(separator: ", ")
    return "(\(named)) IN (SELECT \(columns) FROM main.\(quoted(child.name)) AS h WHERE \(stays))"
  }

  /// Why a node that such a row refers to must stay.
  package var reason: String {
    DenialText.held(byRowOf: child.name, key.columns)
  }

  /// Whether the foreign key fits the parent. If not, SQLite reports the key itself as wrong,
  /// whatever is deleted.
  package var fits: Bool { key.fits(parent.table!) }
}

extension Binding {
  /// The foreign keys by which rows outside of the model hold nodes. The rules know beforehand what
  /// SQLite would say in the end, because nothing that is deleted with nodes deletes these rows or
  /// changes their references. A table that a trigger of the application's may write is left out:
  /// the trigger may make room for a deletion.
  func findOutsideHolds(
    _ keys: [SchemaForeignKey], _ db: borrowing Connection
  ) throws -> [ForeignHold] {
    let nodes = collections.values.sorted { $0.id < $1.id }
    let parents = nodeNames
    let children = Set(keys.filter { parents.contains($0.parent) }.map(\.child))
    let outside = children.subtracting(parents).subtracting(joinNames)
    return try db.tables(outside.sorted()).flatMap { child in
      let holds = nodes.flatMap { child.holds($0) }
      let areKnown = child.hasStableReferences && !mayBeWrittenByTrigger(child)
      return areKnown && holds.allSatisfy(\.fits) ? holds : []
    }
  }

  /// Whether a trigger of the application's may write the table.
  package func mayBeWrittenByTrigger(_ table: Table) -> Bool {
    let name = table.name.folded
    // Some ways to quote a name double its quotation marks, so such a name always counts as found.
    let isOdd = name.contains(where: "\"'`".contains)
    return triggers.contains { isOdd || $0.mentions(name) }
  }
}

extension Table {
  package func holds(_ parent: NodeTable, where stays: Query = "1") -> [ForeignHold] {
    foreignKeys.filter { $0.onDelete.blocksDeletion && $0.refers(to: parent.table!) }
      .map { ForeignHold(parent: parent, child: self, key: $0, stays: stays) }
  }

  /// Whether no foreign key deletes its rows, or clears a column that another foreign key uses.
  fileprivate var hasStableReferences: Bool {
    let refusing = foreignKeys.filter(\.onDelete.blocksDeletion).flatMap(\.names)
    return foreignKeys.allSatisfy { key in
      key.onDelete.blocksDeletion
        || key.onDelete != .cascade && Set(refusing).isDisjoint(with: key.names)
    }
  }
}

extension Table.ForeignKey {
  fileprivate var names: [String] { columns.map(\.folded) }

  /// The columns of the parent that it refers to.
  package func names(in parent: Table) -> [String] {
    parentColumns.isEmpty ? parent.primaryKey : parentColumns
  }

  func fits(_ parent: Table) -> Bool {
    let names = names(in: parent)
    return names.count == columns.count && names.allSatisfy { parent.column($0) != nil }
  }

  /// Compares by the rules of the parent's columns, as SQLite does.
  package func matches(_ child: String, _ row: String, _ parent: Table) -> String {
    let pairs = zip(names(in: parent), columns).map {
      "\(row).\(quoted($0)) = \(child).\(quoted($1))"
    }
    return pairs.isEmpty ? "0" : pairs.joined(separator: " AND ")
  }
}
