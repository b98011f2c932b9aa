internal import CascadeModel
internal import CascadeSQLite
/// Rows that refuse the deletion of the nodes they refer to: SQLite keeps these by a foreign key.
struct ForeignHold: Sendable {
  let parent: NodeTable
  let child: Table
  let key: Table.ForeignKey
  /// Which rows `h` of the child do, as SQL.
  let stays: String

  /// Whether they hold the row `d` of the parent. In the words of the parent's columns: that is how
  /// SQLite compares them.
  var holds: String {
    let columns = key.columns.map { "h.\(quoted($0))" }.joined(separator: ", ")
    let named = key.names(in: parent.table!).map { "d.\(quoted($0))" }.joined(separator: ", ")
    return "(\(named)) IN (SELECT \(columns) FROM main.\(quoted(child.name)) AS h WHERE \(stays))"
  }

  /// Why what a row refers to by it must stay.
  var reason: String {
    "a row of \"\(child.name)\" refers to it (FOREIGN KEY (\(key.columns.joined(separator: ", "))))"
  }

  /// Else SQLite says that the foreign key itself is wrong, whatever goes.
  var fits: Bool { key.fits(parent.table!) }
}

extension Binding {
  /// As nothing that goes with nodes takes rows outside of the model along, or changes what they refer
  /// to, the rules know beforehand what SQLite would say in the end. Not where a trigger of the
  /// application's may make room for a deletion.
  func findOutsideHolds(
    _ keys: [KeyOfFile], _ db: borrowing Connection
  ) throws -> [ForeignHold] {
    let nodes = collections.values.sorted { $0.id < $1.id }
    let parents = nodeNames
    let children = Set(keys.filter { parents.contains($0.parent) }.map(\.child))
    let outside = children.subtracting(parents).subtracting(joinNames)
    return try db.tables(outside.sorted()).flatMap { child in
      let holds = nodes.flatMap { child.holds($0) }
      let areKnown = child.keepsItsReferences && !isInTrigger(child)
      return areKnown && holds.allSatisfy(\.fits) ? holds : []
    }
  }
}

extension Binding {
  /// Whether a trigger of the application may write it.
  func isInTrigger(_ table: Table) -> Bool {
    let name = table.name.folded
    // A quotation mark in a name is written twice, by some of the ways to write it.
    let isOdd = name.contains(where: "\"'`".contains)
    return triggers.contains { isOdd || $0.mentions(name) }
  }
}

extension Table {
  func holds(_ parent: NodeTable, where stays: String = "1") -> [ForeignHold] {
    foreignKeys.filter { $0.onDelete.refuses && $0.refers(to: parent.table!) }
      .map { ForeignHold(parent: parent, child: self, key: $0, stays: stays) }
  }

  /// No foreign key takes its rows along, or takes away what another one refers by.
  fileprivate var keepsItsReferences: Bool {
    let refusing = foreignKeys.filter(\.onDelete.refuses).flatMap(\.names)
    return foreignKeys.allSatisfy { key in
      key.onDelete.refuses || key.onDelete != .cascade && Set(refusing).isDisjoint(with: key.names)
    }
  }
}

extension Table.ForeignKey {
  fileprivate var names: [String] { columns.map(\.folded) }

  /// The parent's columns that it refers to.
  func names(in parent: Table) -> [String] {
    parentColumns.isEmpty ? parent.primaryKey : parentColumns
  }

  func fits(_ parent: Table) -> Bool {
    let names = names(in: parent)
    return names.count == columns.count && names.allSatisfy { parent.column($0) != nil }
  }

  /// In the words of the parent's columns: that is how SQLite compares them.
  func matches(_ child: String, _ row: String, _ parent: Table) -> String {
    let pairs = zip(names(in: parent), columns).map {
      "\(row).\(quoted($0)) = \(child).\(quoted($1))"
    }
    return pairs.isEmpty ? "0" : pairs.joined(separator: " AND ")
  }
}

extension Connection {
  /// What rows outside of the model keep, of a slice.
  func outsideDenials(_ binding: Binding, in slice: Slice) throws(SQLiteError) -> [Denial] {
    var denials: [Denial] = []
    for hold in binding.outsideHolds {
      let held = try goneNodes(of: hold.parent, slice, binding.model, where: hold.holds)
      denials += held.map { Denial($0, because: hold.reason) }
    }
    return denials
  }
}
