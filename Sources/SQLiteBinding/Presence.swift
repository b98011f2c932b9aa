internal import CascadeModel
internal import CascadeSQLite

/// Which nodes exist, and in which order. A mapped node exists if its row does. Its row in
/// `cascade_node` is only its identity, for the stored edges that name it.
extension Binding {
  /// Whether a row of `cascade_node` stands for a node that exists.
  /// In any other row with a collection and a key, `object` is the condition for an object.
  package func nodeExists(_ alias: String, object: String? = nil) -> String {
    let object = object ?? "\(alias).id IS NOT NULL"
    if collections.isEmpty { return object }
    let cases = collections.values.sorted { $0.id < $1.id }.map { table in
      "WHEN \(table.id) THEN \(table.hasRow(withKey: "\(alias).key"))"
    }
    return """
      CASE \(alias).collection \(cases.joined(separator: " ")) ELSE \(object) END
      """
  }

  /// Whether no two different spellings are the same key.
  package var comparesByBytes: Bool {
    collections.values.allSatisfy { $0.collations?.allSatisfy { $0 == "BINARY" } ?? true }
  }
}

extension NodeTable {
  package func hasRow(withKey value: String) -> String {
    "EXISTS (SELECT 1 FROM \(rows) AS p WHERE \(hasKey("p", value)))"
  }

  /// Whether no row has this key. If SQLite cannot read a part of a list, such as an invalid text,
  /// the row does not count as gone for that reason.
  package func hasNoRow(withKey value: String) -> String {
    if !isComposite { return "NOT \(hasRow(withKey: value))" }
    let isWritten = "EXISTS (SELECT 1 FROM \(rows) AS h WHERE \(key("h")) = \(value))"
    return
      "NOT \(hasRow(withKey: value)) AND NOT (\(CompositeKeyPart.needsDecoding(value)) AND \(isWritten))"
  }

  /// The columns by which rows are found and distinguished, in the order of the index that does it.
  package func sortColumns(_ alias: String) -> [String] {
    guard case .mapped(let table, let key, _) = kind,
      let unique = table.uniqueKey(of: key.map(\.name))
    else { return ["\(alias).key"] }
    let columns = zip(unique.columns, unique.collations)
    return columns.map { column, collation in
      let name = "\(alias).\(quoted(column))"
      // SQLite uses an index for a list of columns only if they are written bare.
      if key.count > 1, collation == "BINARY" { return name }
      return "\(name) COLLATE \(quoted(collation))"
    }
  }

  /// The number of the identity of the node with this key, if a stored edge names it.
  package func number(ofKey value: String) -> String {
    """
    (SELECT i.id FROM main.cascade_node AS i WHERE i.collection = \(id) AND i.key = +\(value))
    """
  }
}

extension EdgeRelation {
  /// The key of the destination, for use after `destinationRow`.
  package var destinationKey: String {
    destination.kind == .files ? destination.asKey(reference) : destination.key("d")
  }

  /// A query for the edge from the source with one key to the destination with another, in this or
  /// another row of a join.
  package func edge(fromKey source: String, toKey destination: String) -> String {
    let sources =
      if let sourceReference, let table = referringTable {
        "main.\(quoted(table.name)) AS j WHERE "
          + self.source.referenceHasKey(source, of: sourceReference)
      } else {
        "\(self.source.rows) AS s \(references) WHERE \(self.source.hasKey("s", source))"
      }
    return """
      SELECT 1 FROM \(sources) AND \(isEdge)
      AND \(self.destination.referenceHasKey(destination, of: reference))
      """
  }

  /// The rows of the sources that refer to the node `m`, found by an index. Not for lists.
  package func sources(of m: String) -> String {
    let isReferring = destination.referenceHasKey("\(m).key", of: reference)
    return "\(sources(where: isReferring)) AND \(source.isNode("s"))"
  }

  /// The same for references that satisfy a condition.
  func sources(where isReferring: String) -> String {
    guard let sourceReference, let table = referringTable else {
      return "\(source.rows) AS s WHERE \(isReferring) AND \(isEdge)"
    }
    return """
      main.\(quoted(table.name)) AS j
      CROSS JOIN \(source.rows) AS s ON \(source.hasKey("s", sourceReference))
      WHERE \(isReferring) AND \(isEdge)
      """
  }
}
