internal import CascadeModel
internal import CascadeStore

/// The references that a row or an object has by one relationship, in columns or in a property, and
/// what a patch has to set so that it has others. Nil stands for no change.
struct References<Writing: EdgeWriting> {
  private let writing: Writing
  private let relationship: Relationship
  private let from: Node

  init(_ writing: Writing, _ relationship: Relationship, _ from: Node) {
    (self.writing, self.relationship, self.from) = (writing, relationship, from)
  }

  private var isManaged: Bool { writing.model.isManaged(from.collection) }

  func adding(_ end: Destination) throws -> [Member]? {
    if let columns { return try has(end) ? nil : set(columns, to: end) }
    let (elements, isList) = try elements()
    if elements.contains(where: { $0.names(end) }), try isOfType(end) { return nil }
    if !relationship.toMany { return try set([element(end)], isList: false, type: end) }
    if try !elements.isEmpty && !isOfType(end) {
      throw rejection("its other references are of another type")
    }
    return try set(elements + [element(end)], isList: isList || !elements.isEmpty, type: end)
  }

  func removing(_ end: Destination) throws -> [Member]? {
    if let columns { return try has(end) ? empty(columns) : nil }
    let (elements, isList) = try elements()
    let left = elements.filter { !$0.names(end) }
    if try left.count == elements.count || !isOfType(end) { return nil }
    return try set(left, isList: isList, type: left.isEmpty ? nil : end)
  }

  func replacing(by ends: [Destination]) throws -> [Member]? {
    if !relationship.toMany && ends.count > 1 { throw rejection("it holds one reference") }
    if let columns {
      guard let end = ends.first else { return try empty(columns) }
      return try has(end) ? nil : set(columns, to: end)
    }
    let old = try elements().elements
    let new = try ends.map { end in try old.first { $0.names(end) } ?? element(end) }
    return try set(new, isList: relationship.toMany, type: ends.first)
  }

  private func rejection(_ message: String) -> Rejection {
    writing.rejection(
      from, "\"\(relationship.name)\" lives \(relationship.placeText): \(message)")
  }

  // MARK: - Columns

  /// The columns of a table that have the reference; nil for a property.
  private var columns: [String]? {
    switch relationship.edgeStorage {
    case .column(let columns): columns
    case .polymorphic(let columns, _) where !isManaged: columns
    default: nil
    }
  }

  private var typeColumn: String? {
    if case .polymorphic(_, let type) = relationship.edgeStorage { type } else { nil }
  }

  private func has(_ end: Destination) throws -> Bool {
    try writing.refers(relationship, from, end)
  }

  private func set(_ columns: [String], to end: Destination) throws -> [Member] {
    let parts: [JSON] =
      switch end {
      case .file(_, let path): [.string(path)]
      case .node(let node):
        if case .composite(let parts) = node.key { parts.map(\.json) } else { [node.key.json] }
      }
    if parts.count != columns.count { throw rejection("\(end.json.text) has another kind of key") }
    let values = zip(columns, parts).map { Member(name: $0, value: JSONText($1)) }
    guard let typeColumn else { return values }
    return values + [Member(name: typeColumn, value: JSONText(.string(try word(for: end))))]
  }

  /// A column that may not be null gets a value that stands for none, if the model has one. Beside
  /// such, a type that may not be null stays.
  private func empty(_ columns: [String]) throws -> [Member] {
    let required = try columns.filter { try writing.isRequired($0, of: from) }
    let none = relationship.none.first.map { JSONText($0.json) }
    let values = columns.map { column in
      Member(name: column, value: required.contains(column) ? none ?? .null : .null)
    }
    guard let typeColumn else { return values }
    let typeStays = try none != nil && !required.isEmpty && writing.isRequired(typeColumn, of: from)
    return values + (typeStays ? [] : [Member(name: typeColumn, value: .null)])
  }

  // MARK: - Types

  /// The word that stands for the collection, or for the type, of an end.
  private func word(for end: Destination) throws -> String {
    guard case .types(let types) = relationship.to, let node = end.node else { return "" }
    var words = types.filter { writing.model.collection(of: $0.value) == node.collection }
    if words.count > 1 {
      let names = writing.model.names(of: node.collection, type: try writing.type(of: node))
      words = words.filter { names.contains($0.value) }
    }
    if words.count == 1 { return words.first!.key }
    throw rejection("which type \(node) has is not known: put it before")
  }

  /// Whether the references lead to nodes of the type of this end.
  private func isOfType(_ end: Destination) throws -> Bool {
    guard let typeColumn else { return true }
    return try value(at: typeColumn).json.string == word(for: end)
  }

  // MARK: - Properties

  private var path: String {
    switch relationship.edgeStorage {
    case .property(let path): path
    case .polymorphic(let columns, _): columns[0]
    default: ""
    }
  }

  /// The elements of the list, or the single value in its place.
  private func elements() throws -> (elements: [JSONText], isList: Bool) {
    let value = try value(at: path)
    if value.isNull { return ([], relationship.toMany) }
    if let elements = value.elements() { return (elements, true) }
    if value.isDocument { throw rejection("there is an object in place of a reference") }
    return ([value], false)
  }

  private func value(at text: String) throws -> JSONText {
    let path = PropertyPath(text)
    let member = Member(name: path.first, value: try writing.document(path.first, of: from))
    do throws(NoObject) {
      return try [member].value(at: path)
    } catch {
      throw rejection("\(error)")
    }
  }

  private func element(_ end: Destination) throws -> JSONText {
    switch end {
    case .file(_, let path): return JSONText(.string(path))
    case .node(let node):
      if case .composite = node.key {
        throw rejection("a key of several parts is no reference there")
      }
      return JSONText(node.key.json)
    }
  }

  private func set(
    _ elements: [JSONText], isList: Bool, type end: Destination?
  ) throws -> [Member] {
    var values = [(path, isList ? JSONText(list: elements) : elements.first ?? .null)]
    if let typeColumn {
      values.append((typeColumn, try end.map { JSONText(.string(try word(for: $0))) } ?? .null))
    }
    return try members(with: values)
  }

  /// The outermost members, or the columns, with values at paths within them.
  private func members(with values: [(path: String, value: JSONText)]) throws -> [Member] {
    var members: [Member] = []
    for (text, value) in values {
      let path = PropertyPath(text)
      if !members.contains(where: { $0.isNamed(path.first) }) {
        let document = try writing.document(path.first, of: from)
        members.append(Member(name: path.first, value: document))
      }
      do throws(NoObject) {
        try members.set(value, at: path)
      } catch {
        throw rejection("\(error)")
      }
    }
    if isManaged { return members }
    return try members.map {
      Member(name: $0.name, value: try writing.written($0.value, to: $0.name, of: from))
    }
  }
}

extension JSONText {
  /// Whether an element of a list names this end, which is spelled as its collection does.
  fileprivate func names(_ end: Destination) -> Bool {
    switch end {
    case .file(_, let path): json.string.map { $0.hasBytes(of: path) } ?? false
    case .node(let node):
      if let own = Key(json: json)?.managedText, let its = node.key.managedText {
        own.hasBytes(of: its)
      } else {
        false
      }
    }
  }
}
