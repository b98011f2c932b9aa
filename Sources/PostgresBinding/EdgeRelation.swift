package import CascadeModel
internal import CascadePostgres

/// A relationship, and where the database has its edges.
///
/// In the SQL, `s` is a row of the source, `t` one of the destination, and `e` one of the join table
/// or an element of a list.
package struct EdgeRelation {
  package let number: Int64
  package let name: String
  /// Those that are followed.
  package private(set) var rules: Rules
  /// Rules that the sweep which runs leaves to one of another kind.
  package private(set) var left: Rules = []
  /// Where the model says that its edges are.
  package let storage: Relationship.EdgeStorage
  /// Values that refer to nothing.
  package var none: [Key] = []
  package let source: MappedTable
  package let destination: MappedTable
  package let form: Form
  /// What tells that a reference in columns is one of this relation; nil if all are.
  package var type: TypeColumn?
  /// Other relations of the same reference, where nothing tells to which table it leads.
  package var alternatives: [Alternative] = []

  package init(
    number: Int64, name: String, rules: Rules, storage: Relationship.EdgeStorage, none: [Key] = [],
    source: MappedTable, destination: MappedTable, form: Form, type: TypeColumn? = nil,
    isTie: Bool = false
  ) {
    (self.number, self.name, self.rules, self.storage) = (number, name, rules, storage)
    (self.none, self.source, self.destination) = (none, source, destination)
    (self.form, self.type, self.isTie) = (form, type, isTie)
  }

  package enum Form {
    /// Columns of the source.
    case columns(Columns)
    case join(JoinTable)
    /// A column of the source, or a member of the JSON document in it.
    case list(ListColumn)
  }

  package var join: JoinTable? {
    if case .join(let join) = form { join } else { nil }
  }

  package var list: ListColumn? {
    if case .list(let list) = form { list } else { nil }
  }

  /// The columns of the source that are the reference; nil for a join and a list.
  package var columns: Columns? {
    if case .columns(let columns) = form { columns } else { nil }
  }

  /// Whether each value of its columns, or of its join rows, is a reference, and to one table.
  package var isPlain: Bool { none.isEmpty && type == nil && alternatives.isEmpty }

  /// Whether its destinations need a number of its edges.
  package var isNeeded = false

  /// Whether it is none of the model, and ties a join row that is a node to one of its ends.
  package var isTie = false

  /// Leaves these rules to a sweep of another kind.
  mutating func leave(_ others: Rules) {
    (left, rules) = (allRules.intersection(others), allRules.subtracting(others))
  }

  /// Whether the rules may leave a reference of a row to nothing.
  package var staysDangling: Bool { join == nil && rules.isDisjoint(with: .removingSource) }

  package var isStored: Bool { join?.isStored ?? false }

  /// The collection that has the edges in its rows: that of the source, or of the join rows. Nil if
  /// join rows are no nodes.
  package var holder: MappedTable? { join == nil ? source : join?.nodes }

  /// The columns of the holder that make the edge.
  package var heldColumns: [String] {
    switch form {
    case .columns(let columns): columns.all.map(\.name) + (type.map { [$0.name] } ?? [])
    case .join(let join): (join.source.all + join.destination.all).map(\.name)
    case .list(let list): [list.name] + (list.objectTypes == nil ? [] : ["type"])
    }
  }

  /// What the SQL calls a row of the holder.
  package var holderRow: String { join == nil ? "s" : "e" }

  /// The key of the source in that row, or in another one like it.
  package func from(in row: String? = nil) -> String {
    (join?.source ?? source.key).text(row ?? holderRow)
  }

  /// The join table whose rows are no nodes.
  package var looseJoin: JoinTable? { join?.nodes == nil ? join : nil }

  /// Whether a row goes with each edge that is lost in this way. Counts and notices come later, of
  /// all edges at once.
  package func isFollowed(_ what: JournalSubject) -> Bool {
    switch what {
    case .lost: rules.contains(.deleteDestinationIfSourceDeleted)
    case .widowed: rules.contains(.deleteSourceIfDestinationDeleted)
    case .gone, .arrived: true
    case .rowless, .reused: false
    }
  }

  /// Whether the loss of its edges is only counted. Then one edge to each destination tells enough.
  package var isOnlyCounted: Bool {
    allRules.intersection(.losingSource) == [.deleteDestinationIfAllSourcesDeleted]
  }

  package func edge(_ from: String, _ to: String, isDeclared: Bool? = nil) -> Edge {
    Edge(
      name: name, source: source.node(from), destination: .node(destination.node(to)),
      rules: allRules, origin: isDeclared ?? !isStored ? .declared : .manual, kind: kind)
  }

  private var kind: EdgeKind {
    switch form {
    case .columns: type == nil ? .column : .polymorphic
    case .join(let join): join.isStored ? .stored : .join
    case .list(let list): list.kind == nil ? .property : .polymorphic
    }
  }

  package var allRules: Rules { rules.union(left) }

  package func table(at end: EdgeEnd) -> MappedTable { end == .source ? source : destination }
}

extension EdgeRelation {
  // MARK: - Edges in FROM

  /// All edges whose source is there; `sources` are its rows if they are not all of the table.
  package func edges(from sources: String? = nil) -> String {
    let rows = "\(sources ?? source.name) s"
    guard let join else { return rows + references(of: "s") }
    return "\(join.name) e JOIN \(rows) ON \(join.source.equal("e", source.key, "s"))"
  }

  /// The edges of one source, and the condition that they are its edges. A join row is one also
  /// where its source is gone.
  package func edges(ofText key: String) -> (from: String, condition: String) {
    guard let join else { return (edges(), source.key.equal("s", text: key)) }
    return ("\(join.name) e", join.source.equal("e", text: key))
  }

  /// The edges that are lost with one node, at which they are or whose row has them.
  package func edges(lostWithText key: String) -> (from: String, condition: String) {
    guard let join, let nodes = join.nodes else { return edges(ofText: key) }
    return (
      "\(join.name) e", "\(join.source.isComplete("e")) AND \(nodes.key.equal("e", text: key))"
    )
  }

  /// The node with which edges lose their source.
  package var lostWith: MappedTable { holder ?? source }

  /// The nodes with which an edge goes for those that are at its destination, or at its source.
  package var sources: [MappedTable] { [source] + (join?.nodes.map { [$0] } ?? []) }
  package var destinations: [MappedTable] { [destination] + (join?.nodes.map { [$0] } ?? []) }

  /// What to append to a row of the source in FROM, to get its elements.
  package func references(of row: String) -> String {
    list.map { " CROSS JOIN \($0.elements(row))" } ?? ""
  }

  // MARK: - What an edge leads to

  private func reference(_ row: String? = nil) -> (columns: Columns, row: String) {
    switch form {
    case .columns(let columns): (columns, row ?? "s")
    case .join(let join): (join.destination, row ?? "e")
    case .list(let list): (list.value, "e")
    }
  }

  /// Whether it leads anywhere. A column may be in another row than `s`, that of a join in another
  /// than `e`.
  package func isEdge(in row: String? = nil) -> String {
    let (columns, edge) = reference(row)
    return all([columns.isComplete(edge)] + isMeant(row))
  }

  /// That a value does not mean "none", and is of this relation.
  private func isMeant(_ row: String? = nil) -> [String] {
    let (columns, row) = reference(row)
    let isNone = columns.isNone(row, of: none)
    return [isNone.map { "NOT \($0)" }, type?.isIt(row)].compactMap(\.self)
  }

  private func all(_ conditions: [String]) -> String { conditions.joined(separator: " AND ") }

  /// The key of the destination, as a text.
  package func to(in row: String? = nil) -> String {
    let (columns, row) = reference(row)
    return columns.text(row)
  }

  /// The values of the referring columns.
  package func toValues(in row: String? = nil) -> String {
    let (columns, row) = reference(row)
    return columns.values(row)
  }

  package func leads(to other: String, in row: String? = nil) -> String {
    let (columns, edge) = reference(row)
    let isIt = [columns.equal(edge, destination.key, other)] + isMeant(row)
    let mayBe = list.map { $0.mayHave(destination.key.values(other), in: row ?? "s") }
    return all((mayBe.map { [$0] } ?? []) + isIt)
  }

  package func leads(toText key: String) -> String {
    let (columns, row) = reference()
    let isIt = [columns.equal(row, text: key)] + isMeant()
    let mayBe = list.map { $0.mayHave(columns.parts(of: key)[0], in: "s") }
    return all((mayBe.map { [$0] } ?? []) + isIt)
  }

  package func leads(toAny array: String) -> String { leads(toAny(array)) }
  package func leads(toAnyOf texts: String) -> String { leads(toAnyOf(texts)) }

  private func leads(_ any: (isAny: String, mayBe: String)) -> String {
    list == nil ? any.isAny : "\(any.mayBe) AND \(any.isAny)"
  }

  /// Whether it leads to one of the keys of an array of texts, and whether the row may have such.
  fileprivate func toAny(_ array: String) -> (isAny: String, mayBe: String) {
    let (columns, row) = reference()
    let values = list.map { "SELECT unnest\(array.array(of: $0.family))" }
    return (all([columns.isAny(row, array)] + isMeant()), mayHave(values))
  }

  private func toAnyOf(_ texts: String) -> (isAny: String, mayBe: String) {
    let (columns, row) = reference()
    let values = list.map { "SELECT \("k.key".cast(to: $0.family)) FROM (\(texts)) k(key)" }
    return (all([columns.isIn(row, texts)] + isMeant()), mayHave(values))
  }

  private func mayHave(_ values: String?) -> String {
    guard let list, let values else { return "true" }
    return list.mayHaveAny(values, in: "s")
  }

  // MARK: - References that are lost

  /// Whether the reference leads to nothing.
  package var isDangling: String { dangling(at: .destination).condition }

  /// Whether the row `s` has a reference to one of the keys of an array of texts, which no row has.
  /// `condition` is one on the reference.
  package func hasLost(any array: String, where condition: String = "true") -> String {
    hasLost(toAny(array), condition)
  }
  package func hasLost(anyOf texts: String, where condition: String = "true") -> String {
    hasLost(toAnyOf(texts), condition)
  }

  private func hasLost(_ any: (isAny: String, mayBe: String), _ condition: String) -> String {
    let isLost = "\(any.isAny) AND \(isDangling) AND \(condition)"
    guard let list else { return isLost }
    return "\(any.mayBe) AND EXISTS (SELECT FROM \(list.elements("s")) WHERE \(isLost))"
  }

  /// Whether the element `e` leads to one of these keys, which no row has.
  package func isLost(anyOf texts: String) -> String { "\(toAnyOf(texts).isAny) AND \(isDangling)" }

  /// The key of a destination that a row has lost.
  package func lostDestination(in row: String) -> String {
    guard let list else { return to(in: row) }
    return "(SELECT min(\(to())) FROM \(list.elements(row)) WHERE \(isDangling))"
  }

  // MARK: - Conditions

  /// Has a subquery answered for each row, along an index. The planner could read the whole tables
  /// instead, to join them.
  private static let eachRow = "OFFSET 0"

  /// Whether there is an edge between the keys of two texts.
  package func hasEdge(_ from: String, _ to: String, where condition: String = "true") -> String {
    "EXISTS (SELECT FROM \(edges()) WHERE \(source.key.equal("s", text: from)) "
      + "AND \(leads(toText: to)) AND \(condition))"
  }

  /// The same of the edge that a row of the journal, or of `work`, tells of. A manual edge is not the one
  /// that its source declares.
  func hasEdge(lostIn row: String) -> String {
    let isIt = "e.is_declared IS DISTINCT FROM \(row).is_manual"
    return hasEdge("\(row).key", "\(row).other", where: isStored ? isIt : "true")
  }

  /// Whether the edge of such a row, which lost its destination, is not lost any more.
  package func isRestored(lostIn row: String) -> String {
    let (from, to) = ("\(row).key", "\(row).other")
    // A join row may be there without its end.
    if join != nil { return "(\(hasEdge(lostIn: row)) AND \(destination.has(to)))" }
    return """
      NOT EXISTS (SELECT FROM \(edges()) WHERE \(source.key.equal("s", text: from))
        AND \(leads(toText: to)) AND \(isDangling))
      """
  }

  /// Whether the row `s` has an edge to a node that is there, and for which a condition on `t`
  /// holds.
  package func hasDestination(where condition: String = "true", ofEachRow: Bool = true) -> String {
    let edges = join.map { "\($0.name) e, " } ?? list.map { "\($0.elements("s")), " } ?? ""
    let isOfSource = join.map { "\($0.source.equal("e", source.key, "s")) AND " } ?? ""
    return """
      EXISTS (SELECT FROM \(edges)\(destination.name) t
        WHERE \(isOfSource)\(leads(to: "t")) AND \(condition) \(ofEachRow ? EdgeRelation.eachRow : ""))
      """
  }

  /// Whether an edge leads to the row `t` from a node that is there, and for which a condition on
  /// `s` holds.
  package func hasSource(where condition: String = "true", ofEachRow: Bool = true) -> String {
    """
    EXISTS (SELECT FROM \(edges())
      WHERE \(leads(to: "t")) AND \(condition) \(ofEachRow ? EdgeRelation.eachRow : ""))
    """
  }
}

extension EdgeRelation {
  // MARK: - Changes of a row

  /// The assignments by which a row refers to nothing.
  package func emptied(_ columns: Columns) -> [Assignment] {
    let type = type.flatMap { type in type.empty.map { Assignment(type.name, $0) } }
    return columns.all.map { Assignment($0.name, $0.empty) } + (type.map { [$0] } ?? [])
  }

  /// The assignments by which it refers to the key that a text names.
  package func filled(_ columns: Columns, with key: String) -> [Assignment] {
    zip(columns.all, columns.parts(of: key)).map { Assignment($0.name, $1) }
      + (type.map { [Assignment($0.name, $0.written)] } ?? [])
  }

  /// Whether the reference depends on one of these columns of its row, or members of its object.
  package func isDecided(by names: Set<String>) -> Bool {
    guard source.isManaged, let list else {
      return heldColumns.contains { column in names.contains { quoted($0) == column } }
    }
    return [list.path, list.kind?.path ?? []].contains { $0.first.map(names.contains) ?? false }
  }

  /// Whether the referring columns of two rows differ.
  package func isChanged(_ row: String, _ other: String) -> String {
    if let list { return list.isChanged(row, other) }
    let changes = [columns?.areDistinct(row, other), type?.isChanged(row, other)]
    return "(\(changes.compactMap(\.self).joined(separator: " OR ")))"
  }

  /// Whether they may differ, for a condition that the application's role evaluates.
  package func mayBeChanged(_ row: String, _ other: String) -> String {
    list?.mayBeChanged(row, other) ?? isChanged(row, other)
  }

  // MARK: - Rows of a join

  /// Whether the join row `e` has one of the keys of an array of texts at this end.
  package func isAny(at end: EdgeEnd, _ array: String, of join: JoinTable) -> String {
    end == .destination ? toAny(array).isAny : join.source.isAny("e", array)
  }
}

extension EdgeRelation {
  /// Only a join row can be without its source.
  package func dangling(at end: EdgeEnd) -> DanglingEdges {
    let table = table(at: end)
    let (columns, row) = join.map { ($0.columns(at: end), "e") } ?? reference()
    let isMeant =
      end == .destination
      ? self.isMeant() : columns.isNone(row, of: none).map { ["NOT \($0)"] } ?? []
    let isMissing = """
      NOT EXISTS (SELECT FROM \(table.name) t WHERE \(columns.equal(row, table.key, "t")))
      """
    let isNowhere = end == .destination ? leadsNowhereElse() : []
    return DanglingEdges(
      table: table, key: columns.text(row), edges: join.map { "\($0.name) e" } ?? edges(),
      condition: all([columns.isComplete(row)] + isMeant + [isMissing] + isNowhere),
      columns: columns, row: row, mayHave: { self.toAny($0).mayBe })
  }
}
