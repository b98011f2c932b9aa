internal import CascadeModel

/// Values of models as members of a change.
extension Model {
  /// The members of a put. The key is not among them, and an object has no member that is NULL.
  var members: [JSON.Field] {
    let row = stored
    return Self.valueIndices.compactMap { index in
      if Self.collection.table == nil && row.values[index] == .null { return nil }
      return JSON.Field(Self.columns.all[index].column, row.json(index, of: Self.self))
    }
  }

  /// All values, to demand that they are still so.
  var expected: JSON.Field {
    let row = stored
    return Self.expected { row.json($0, of: Self.self) }
  }

  private static func expected(_ value: (Int) -> JSON) -> JSON.Field {
    JSON.Field(
      "ifUnchanged",
      .object(valueIndices.map { JSON.Field(columns.all[$0].column, value($0)) }))
  }

  /// The places of the properties that are not the key.
  private static var valueIndices: [Int] {
    columns.all.indices.filter { columns.all[$0].column != collection.key }
  }
}

extension RowValues {
  func json<M: Model>(_ index: Int, of model: M.Type) -> JSON {
    if isJSON(index), case .text(let text) = values[index], let json = try? JSON.parse(text) {
      return json
    }
    return M.collection.table == nil ? values[index].json : values[index].columnJSON
  }
}

// MARK: - As they are stored

/// A type may read several stored values as the same one, of which it writes only one: 0x1F and "31", a
/// UUID in small letters. So what a row has is looked up, where that matters, and its own form is sent.
extension Model {
  /// Whether that is so for a property of the rows of a table.
  static var mayReadOtherwise: Bool {
    collection.table != nil && columns.all.contains { !$0.isExact }
  }

  /// A put, in which the properties that are stored already have the form in which they are stored. If
  /// they cannot be read, it stays as it is.
  func asStored(_ change: JSON, _ snapshot: borrowing Snapshot) -> JSON {
    guard let now = try? snapshot.members(of: id) else { return change }
    let (own, its) = (stored.values, now.model.stored.values)
    let same = own.indices.filter { own[$0] == its[$0] }.map { Self.columns.all[$0].column }
    return change.replacing("value") { field in
      same.contains(field.name) ? now.json[field.name] ?? field.value : field.value
    }
  }

  /// A change that demands that this is still stored, with the form in which it is stored.
  func asRead(_ change: JSON, _ snapshot: borrowing Snapshot) throws -> JSON {
    let now: (model: Self, json: JSON)?
    do throws(ReadError) {
      now = try snapshot.members(of: id)
    } catch {
      // The daemon has to compare by itself.
      if case .sqlite = error { return change }
      throw WriteError.changed(Self.node(id))
    }
    guard let now, now.model.stored.values == stored.values else {
      throw WriteError.changed(Self.node(id))
    }
    return change.replacing("ifUnchanged") { now.json[$0.name] ?? .null }
  }
}

extension JSON {
  /// The object, with other values in the object that is one of its members.
  fileprivate func replacing(_ name: String, _ value: (Field) -> JSON) -> JSON {
    .object(
      (object ?? []).map { field in
        if field.name != name { return field }
        let fields = (field.value.object ?? []).map { Field($0.name, value($0)) }
        return Field(name, .object(fields))
      })
  }
}

extension Snapshot {
  /// A value, and its members in the form in which they are stored; nil if it is not there.
  fileprivate func members<M: Model>(of id: ID<M>) throws(ReadError) -> (model: M, json: JSON)? {
    let rows = try rows(M.query(for: id).statement, of: M.self)
    guard try rows.next() else { return nil }
    let model = try M(row: rows.row)
    return (model, rows.members(of: M.self))
  }
}

extension ResultRows {
  /// The members of the current row or object.
  fileprivate borrowing func members<M: Model>(of model: M.Type) -> JSON {
    if M.collection.table == nil {
      let text = unsafe try? ResultColumn(statement, first + 1).text()
      return text.flatMap { try? JSON.parse($0) } ?? .object([])
    }
    return .object(
      M.columns.all.indices.map { index in
        let column = unsafe ResultColumn(statement, first + Int32(index))
        return JSON.Field(M.columns.all[index].column, column.json)
      })
  }
}
