internal import CascadeModel
package import CascadeSQLite
package import SQLiteBinding
package import SQLiteTables

/// The watches that a binding needs. A watch has room for four values. The values of one relation
/// stay in one watch, so that a journal row contains the whole reference.
extension Binding {
  package var meanings: [Watch.Meaning] {
    let rows = collections.values.map(\.id).sorted().map { Watch.Subject.rows(of: $0) }
    return (rows + joinSubjects).flatMap(meanings(of:))
  }

  /// Join tables with edges to watch, by the column that names the source.
  var joinSubjects: [Watch.Subject] {
    edgeRelations.filter { $0.isWatched && $0.isInJoinTable }.map(\.watchSubject).unique
  }

  func meanings(of subject: Watch.Subject) -> [Watch.Meaning] {
    let relations = edgeRelations.filter { $0.isWatched && $0.watchSubject == subject }
    var lists: [[WatchedValue]] = []
    for relation in relations { lists.pack(relation.watchedValues, room: Watch.columns.count) }
    if lists.isEmpty { lists = [[]] }
    return lists.map { values in
      let edges = relations.compactMap { $0.edge(in: values) }.unique
      return Watch.Meaning(
        watchSubject: subject, values: values, edges: edges.sorted { $0.json.text < $1.json.text })
    }
  }
}

extension [[WatchedValue]] {
  fileprivate mutating func pack(_ values: [WatchedValue], room: Int) {
    if contains(where: { list in values.allSatisfy(list.contains) }) { return }
    for index in indices {
      let missing = values.filter { !self[index].contains($0) }
      if self[index].count + missing.count > room { continue }
      return self[index] += missing
    }
    append(values)
  }
}

/// The text in `cascade_watch`:
/// `{"rows":2,"values":[["album_id"],["meta","$.\"by\""]],"edges":[…]}`, or
/// `{"joins":["song_artist","song_id"],"values":[["artist_id"]],"edges":[…]}`. Several columns that
/// are one value: `[["feed","id"]]`.
extension Watch.Meaning {
  package var text: String {
    let head =
      switch watchSubject {
      case .rows(let collection): JSON.Field("rows", .integer(collection))
      case .joins(let table, let source):
        JSON.Field("joins", .array(([table] + source).map { .string($0) }))
      }
    let edges = JSON.Field("edges", .array(edges.map(\.json)))
    return JSON.object([head, JSON.Field("values", .array(values.map(\.json))), edges]).text
  }

  /// Nil for a text that a newer Cascade wrote.
  init?(text: String) {
    guard let json = try? JSON.parse(text), let subject = Watch.Subject(json: json),
      let list = json["values"]?.array, let said = json["edges"]?.array
    else { return nil }
    let values = list.compactMap(WatchedValue.init(json:))
    let edges = said.compactMap(WatchedEdge.init(json:))
    guard values.count == list.count, edges.count == said.count,
      edges.allSatisfy({ $0.values.allSatisfy(values.indices.contains) })
    else { return nil }
    self.init(watchSubject: subject, values: values, edges: edges)
  }

  /// Without the edges of a collection that stands for something else now; nil if the watch is of
  /// its rows.
  func without(_ collection: Int64) -> Watch.Meaning? {
    if watchSubject == .rows(of: collection) { return nil }
    return Watch.Meaning(
      watchSubject: watchSubject, values: values,
      edges: edges.filter { $0.source != collection && $0.destination != collection })
  }
}

extension Watch.Subject {
  fileprivate init?(json: JSON) {
    if let collection = json["rows"]?.integer {
      self = .rows(of: collection)
    } else if let names = json["joins"]?.array?.compactMap(\.string), names.count >= 2 {
      self = .joins(table: names[0], source: Array(names.dropFirst()))
    } else {
      return nil
    }
  }
}

extension WatchedEdge {
  fileprivate var json: JSON {
    let fields = [
      JSON.Field("name", .integer(name)), JSON.Field("from", .integer(source)),
      JSON.Field("to", .integer(destination)),
      JSON.Field("at", .array(values.map { .integer(Int64($0)) })),
    ]
    return .object(fields + (type.map { [JSON.Field("type", .string($0))] } ?? []))
  }

  fileprivate init?(json: JSON) {
    guard let name = json["name"]?.integer, let source = json["from"]?.integer,
      let destination = json["to"]?.integer,
      let values = json["at"]?.array?.compactMap(\.integer), !values.isEmpty
    else { return nil }
    self.init(
      name: name, source: source, destination: destination, values: values.map(Int.init),
      type: json["type"]?.string)
  }
}

extension WatchedValue {
  /// The columns that contain it.
  var columns: [String] {
    switch self {
    case .columns(let names): names
    case .json(let column, _): [column]
    }
  }

  fileprivate var json: JSON {
    switch self {
    case .columns(let names) where names.count == 1: [.string(names[0])]
    case .columns(let names): [.array(names.map { .string($0) })]
    case .json(let column, let path): [.string(column), .string(path)]
    }
  }

  fileprivate init?(json: JSON) {
    if let names = json.array?.first?.array {
      self = .columns(names.compactMap(\.string))
      return
    }
    guard let parts = json.array?.compactMap(\.string), parts.count == json.array?.count
    else { return nil }
    switch parts.count {
    case 1: self = .columns(parts)
    case 2: self = .json(column: parts[0], path: parts[1])
    default: return nil
    }
  }
}

extension Writer {
  /// Gives every meaning a permanent number: rows of the journal outlive the model.
  func numberWatches(_ meanings: [Watch.Meaning]) throws -> [Watch] {
    try meanings.map { meaning in
      let text = Value.text(meaning.text)
      let number =
        try db.integer("SELECT what FROM cascade_watch WHERE meaning = ?", text)
        ?? db.integer("INSERT INTO cascade_watch(meaning) VALUES(?) RETURNING what", text)!
      return Watch(number: number, meaning: meaning)
    }
  }
}

extension Connection {
  /// Every watch that was ever made, except those of a newer Cascade.
  package func watches() throws(SQLiteError) -> [Watch] {
    try all("SELECT what, meaning FROM cascade_watch ORDER BY what") { row in
      Watch.Meaning(text: row.text(1)).map { Watch(number: row.integer(0), meaning: $0) }
    }.compactMap(\.self)
  }
}

extension EdgeRelation {
  /// The values that must be known of a deleted or changed row to tell which edges it had.
  var watchedValues: [WatchedValue] {
    switch form {
    case .column(let columns, let type?): [.columns(columns), .columns([type.column])]
    case .column(let columns, nil), .join(_, _, let columns): [.columns(columns)]
    case .json(let column, let path): [.json(column: column, path: path)]
    case .foreignKey: []
    }
  }

  /// Nil if these values do not contain everything that the relation needs.
  func edge(in values: [WatchedValue]) -> WatchedEdge? {
    let indices = watchedValues.compactMap(values.firstIndex)
    guard indices.count == watchedValues.count else { return nil }
    let type: String? = if case .column(_, let type) = form { type?.word } else { nil }
    return WatchedEdge(
      name: nameId, source: source.id, destination: destination.id, values: indices, type: type)
  }

  var watchSubject: Watch.Subject {
    if case .join(let table, let source, _) = form {
      return .joins(table: table.name, source: source)
    }
    return .rows(of: source.id)
  }

  /// Whether the removal of an edge of this relation must be journaled. The consequences of a
  /// deleted destination are found by the destination's own row, but a foreign key of the
  /// application's may remove the reference at the same time. The sweep of files asks what released
  /// a file.
  var isWatched: Bool {
    if destination.kind == .files { return true }
    if !rules.isDisjoint(with: .following(losing: .source)) { return true }
    let ofDestination = Rules.ofLostDestination.union(.notifyIfDestinationDeleted)
    return !rules.isDisjoint(with: ofDestination) && losesEdgesByForeignKey
  }

  /// Whether a foreign key may remove a reference with its destination, without a request: from its
  /// row, or with its row where the row is nothing else.
  var losesEdgesByForeignKey: Bool {
    let columns = watchedValues.first?.columns ?? []
    return (referringTable?.foreignKeys ?? []).contains { key in
      (isInJoinTable ? !key.onDelete.blocksDeletion : key.onDelete.clearsReference)
        && columns.contains(where: key.has)
    }
  }
}
