internal import CascadeModel
internal import CascadeSQLite
internal import SQLiteBinding

/// The relationships of a suggested model.
struct SuggestedRelationships {
  private let inspection: Inspection
  private let collections: SuggestedCollections
  private let tables: [String: Table]
  private(set) var lines: [String] = []
  private var names: Set<[String]> = []
  /// The columns of references to several tables that are written already.
  private var written: Set<[String]> = []

  init(_ inspection: Inspection, _ collections: SuggestedCollections) {
    self.inspection = inspection
    self.collections = collections
    tables = Dictionary(uniqueKeysWithValues: inspection.schema.map { ($0.name, $0) })
    for reference in inspection.relationships { add(reference) }
  }

  private mutating func add(_ reference: InspectedRelationship) {
    if reference.leadsToSeveral, reference.isLikely,
      !written.insert([reference.from] + reference.columns).inserted
    {
      return
    }
    lines += comment(title(reference), indent: 4)
    if let obstacle = obstacle(reference) {
      lines += comment(obstacle, indent: 4)
      return
    }
    let name = name(for: reference)
    switch reference.found {
    case .typed: addTyped(reference, name)
    case .list: addList(reference, name)
    default: addColumn(reference, name, to: either(reference))
    }
  }

  private func title(_ reference: InspectedRelationship) -> String {
    var sentences = ["\(reference.origin) → \(reference.destination): \(reference.evidence)"]
    if let action = reference.onDelete, action != .noAction {
      sentences[0] += ", ON DELETE \(action.rawValue)"
    }
    sentences.append(counts(reference))
    if !reference.none.isEmpty {
      let values = reference.none.prefix(3).map { $0.text(most: 40) }.joined(separator: ", ")
      sentences.append("Values that may mean \"none\": \(values)")
    }
    if reference.lacksIndex { sentences.append("The column has no index") }
    return sentences.map { "\($0.printable)." }.joined(separator: " ")
  }

  private func counts(_ reference: InspectedRelationship) -> String {
    let rows = reference.rows.groupedCount("row", "rows")
    if reference.rows == 0 { return "No row refers yet" }
    if reference.orphans == 0 { return "\(rows), none of them refers to nothing" }
    let verb = reference.orphans == 1 ? "refers" : "refer"
    return "\(rows), \(reference.orphans.grouped) of them \(verb) to nothing"
  }

  // MARK: - What cannot be said

  /// Why the relationship is only a comment; nil if it can be in the model.
  private func obstacle(_ reference: InspectedRelationship) -> String? {
    if !reference.isLikely { return "Not in the model: the evidence is weak." }
    if reference.movedTo != nil, reference.found != .typed { return moveObstacle(reference) }
    return ownObstacle(reference)
  }

  /// Without the other table, a rule would delete what belongs to the rows that were moved there.
  private func moveObstacle(_ reference: InspectedRelationship) -> String? {
    if alike(reference).allSatisfy({ ownObstacle($0) == nil }) { return nil }
    return "Not in the model: it may refer to \(reference.movedTo ?? ""), which is no key of a "
      + "collection. A rule would delete what refers to rows that were moved there."
  }

  private func ownObstacle(_ reference: InspectedRelationship) -> String? {
    if let join = reference.join { return self.join(reference, join) }
    if reference.found == .path { return "Not in the model: name the root in \"files\" first." }
    guard let key = collections.key(of: reference.from), tables[reference.to] != nil,
      let other = collections.key(of: reference.to)
    else { return "Not in the model: one of the two tables is no collection." }
    if inOrder(reference.columns, naming: reference.toColumns, of: other) == nil {
      let names = other.map(\.printable).joined(separator: ", ")
      return "Not in the model: the key of the collection is \(names)."
    }
    let columns = reference.columns
    if tables[reference.from]?.canCompare(columns) != true {
      return "Not in the model: only the application knows how the column compares."
    }
    if reference.found == .list, columns[0].contains(".") {
      return "Not in the model: a dot in the column's name would step into an object."
    }
    return key.isEmpty ? "Not in the model: there is no key." : nil
  }

  /// The columns of a reference in the order of the key; nil if they name other columns.
  private func inOrder(
    _ columns: [String], naming named: [String], of key: [String]?
  ) -> [String]? {
    guard let key, key.count == named.count else { return nil }
    let ordered = key.compactMap { part in named.firstIndex(of: part).map { columns[$0] } }
    return ordered.count == key.count ? ordered : nil
  }

  /// The columns as the model lists them.
  private func columnList(_ reference: InspectedRelationship) -> String {
    let key = collections.key(of: reference.to)
    return CascadeInspect.columnList(
      inOrder(reference.columns, naming: reference.toColumns, of: key) ?? reference.columns)
  }

  /// A join row goes with either end, which the schema may not ask for.
  private func join(
    _ reference: InspectedRelationship, _ join: InspectedRelationship.Join
  ) -> String? {
    let source = inOrder(
      join.source, naming: reference.columns, of: collections.key(of: reference.from))
    let destination = inOrder(
      join.destination, naming: reference.toColumns, of: collections.key(of: reference.to))
    guard let source, let destination else {
      return "Not in the model: it names other columns than the collections' keys."
    }
    let name = Words(of: reference.to).list.joined(separator: "_")
    return "Its rows would go with either end, by this relationship in the place of the "
      + "collection \(join.table.printable) and its two: { name: \(quotedText(name)), "
      + "from: \(quotedText(reference.from)), to: \(quotedText(reference.to)), join: { table: "
      + "\(quotedText(join.table)), source: \(CascadeInspect.columnList(source)), "
      + "destination: \(CascadeInspect.columnList(destination)) } }"
  }

  // MARK: - What can

  private mutating func addColumn(
    _ reference: InspectedRelationship, _ name: String, to tables: [String]
  ) {
    lines.append("    \(head(reference, name)), to: \(CascadeInspect.columnList(tables)),")
    lines += ruleComments(reference)
    lines.append(
      "      column: \(columnList(reference)), \(none([reference]))rules: \(rules(reference)) },")
  }

  /// The references of the same columns to several tables.
  private func alike(_ reference: InspectedRelationship) -> [InspectedRelationship] {
    inspection.relationships.filter {
      $0.leadsToSeveral && $0.isLikely && $0.from == reference.from
        && $0.columns == reference.columns
    }
  }

  /// The tables that a reference without a type leads to, as far as the model can say so.
  private mutating func either(_ reference: InspectedRelationship) -> [String] {
    if reference.either.isEmpty { return [reference.to] }
    let all = alike(reference)
    for other in all.dropFirst() { lines += comment(title(other), indent: 4) }
    if reference.movedTo != nil { return reference.either }
    lines += comment(
      "Add the other tables that it may lead to: a reference to one that is not listed dangles.",
      indent: 4)
    return all.filter { obstacle($0) == nil }.map(\.to)
  }

  /// Values that mean "none" by their look. Those that many rows merely share stay in the comment.
  private func none(_ references: [InspectedRelationship]) -> String {
    let values = references.flatMap(\.none).compactMap { $0.looksLikeNone ? $0.json5 : nil }.unique
    return values.isEmpty ? "" : "none: [\(values.joined(separator: ", "))], "
  }

  private mutating func addTyped(_ reference: InspectedRelationship, _ name: String) {
    let all = alike(reference)
    for other in all.dropFirst() { lines += comment(title(other), indent: 4) }
    lines += comment(
      "A type that is not in \"to\" refers to nothing: add those that may come.", indent: 4)
    let usable = all.filter { obstacle($0) == nil }
    let map = usable.map { "\(quotedText($0.type ?? "")): \(quotedText($0.to))" }
    lines.append("    \(head(reference, name)),")
    lines += ruleComments(all.first { $0.movedTo != nil } ?? reference)
    lines += [
      "      column: \(quotedText(reference.columns[0])), "
        + "typeColumn: \(quotedText(reference.columns[1])),",
      "      to: { \(map.joined(separator: ", ")) }, \(none(usable))rules: [] },",
    ]
  }

  private mutating func addList(_ reference: InspectedRelationship, _ name: String) {
    lines.append(
      "    \(head(reference, name)), to: \(quotedText(reference.to)),")
    lines += ruleComments(reference)
    lines.append(
      "      property: \(quotedText(reference.columns[0])), toMany: true, rules: [] },")
  }

  private func head(_ reference: InspectedRelationship, _ name: String) -> String {
    "{ name: \(quotedText(name)), from: \(quotedText(reference.from))"
  }

  /// The column's name without its word for a key; the whole name if another column has that.
  /// Several columns are called after the table that they refer to.
  private mutating func name(for reference: InspectedRelationship) -> String {
    let isOneColumn = reference.columns.count == 1 || reference.found == .typed
    let words = isOneColumn ? Words(of: reference.columns[0]) : Words(of: reference.to).singular
    let isKey = words.list.count > 1 && ColumnName.keys.contains(words.list.last ?? "")
    let base = isKey ? words.dropLast() : words
    let rest = base.list.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
    let short = (base.list.first ?? "") + rest.joined()
    let isFree = names.insert([reference.from, short]).inserted
    if isFree && !short.isEmpty { return short }
    return isOneColumn ? reference.columns[0] : reference.columns.joined(separator: "_")
  }

  // MARK: - Rules

  private func rules(_ reference: InspectedRelationship) -> String {
    declaredRule(reference).map { "[\(quotedText($0))]" } ?? "[]"
  }

  /// The rule that says what the schema's ON DELETE says.
  private func declaredRule(_ reference: InspectedRelationship) -> String? {
    switch reference.onDelete {
    case .cascade: "deleteSourceIfDestinationDeleted"
    case .setNull: canBeNull(reference) ? "nullifySourceIfDestinationDeleted" : nil
    case .restrict: "denyDestinationDeletion"
    case .noAction:
      inspection.saysNoAction.contains(reference.from) ? "denyDestinationDeletion" : nil
    case .setDefault, nil: nil
    }
  }

  private func canBeNull(_ reference: InspectedRelationship) -> Bool {
    let key = collections.key(of: reference.from) ?? []
    return reference.columns.allSatisfy { name in
      guard let column = tables[reference.from]?.column(name) else { return false }
      return !column.isRequired && !column.isGenerated && !key.contains(column.name)
    }
  }

  /// The rule that would delete, as a comment.
  private func ruleComments(_ reference: InspectedRelationship) -> [String] {
    if declaredRule(reference) != nil { return [] }
    if reference.found == .typed, let movedTo = reference.movedTo {
      return comment(
        "No rule: it would delete what refers to rows that were moved to \(movedTo.printable).",
        indent: 6)
    }
    let end = reference.movedTo == nil ? "with the row" : "when neither table has the row"
    var text =
      "rules: [\"deleteSourceIfDestinationDeleted\"] would delete a row of "
      + "\(reference.from) \(end) that it refers to"
    if reference.orphans > 0 {
      text += ", and after your approval the \(reference.orphans.grouped) that refer to nothing"
    }
    text += "."
    if let archive = reference.archive {
      text +=
        " If rows of \(reference.to) are moved to \(archive), \"to\" must have both: else what "
        + "belongs to them is deleted."
    }
    if reference.onDelete == .noAction {
      text += " \"denyDestinationDeletion\" would refuse the deletion in every program."
    }
    return comment(text.printable, indent: 6)
  }
}

extension Value {
  /// As the model writes it; nil for what it cannot say.
  fileprivate var json5: String? {
    switch self {
    case .integer(let number): "\(number)"
    case .text(let text): quotedText(text)
    case .null, .real, .blob: nil
    }
  }
}

extension InspectedRelationship {
  fileprivate var leadsToSeveral: Bool { found == .typed || !either.isEmpty }

  fileprivate var lacksIndex: Bool {
    !isIndexed && rows > 0 && [.foreignKey, .name, .typed].contains(found)
  }
}
