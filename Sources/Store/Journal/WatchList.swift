internal import Model
internal import SQLite

/// Which watches a binding needs. Each has room for four values; what one place needs stays
/// together, so that whoever reads a row of the journal has the whole reference.
extension Binding {
  var meanings: [Watch.Meaning] {
    let mapped = collections.values.sorted { $0.id < $1.id }
    let rows = mapped.flatMap { table in
      meanings(of: .rows(collection: table.collection), evenWithoutValues: true)
    }
    return rows + joinSubjects.flatMap { meanings(of: $0, evenWithoutValues: false) }
  }

  /// Join tables that have something to watch, by the column that names the source.
  var joinSubjects: [Watch.Subject] {
    var found: [Watch.Subject] = []
    for place in places where place.isWatched && place.isInJoinTable {
      if !found.contains(place.subject) { found.append(place.subject) }
    }
    return found
  }

  func meanings(of subject: Watch.Subject, evenWithoutValues: Bool) -> [Watch.Meaning] {
    var lists: [[WatchedValue]] = []
    for place in places where place.isWatched && place.subject == subject {
      lists.pack(place.watched, room: Watch.columns.count)
    }
    if lists.isEmpty && evenWithoutValues { lists = [[]] }
    return lists.map { Watch.Meaning(subject: subject, values: $0) }
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

extension Place {
  var isInJoinTable: Bool { if case .join = form { true } else { false } }
}

/// As `cascade_watch` keeps it: `{"rows":"songs","values":[["album_id"],["meta","$.\"by\""]]}`, or
/// `{"joins":["song_artist","song_id"],"values":[["artist_id"]]}`.
extension Watch.Meaning {
  var text: String {
    let head =
      switch subject {
      case .rows(let collection): JSON.Field("rows", .string(collection))
      case .joins(let table, let source): JSON.Field("joins", [.string(table), .string(source)])
      }
    return JSON.object([head, JSON.Field("values", .array(values.map(\.json)))]).text
  }

  /// Nil for what a newer Cascade wrote.
  init?(text: String) {
    guard let json = try? JSON.parse(text), let subject = Watch.Subject(json: json),
      let list = json["values"]?.array
    else { return nil }
    let values = list.compactMap(WatchedValue.init(json:))
    guard values.count == list.count else { return nil }
    self.init(subject: subject, values: values)
  }
}

extension Watch.Subject {
  fileprivate init?(json: JSON) {
    if let collection = json["rows"]?.string {
      self = .rows(collection: collection)
    } else if let names = json["joins"]?.array?.compactMap(\.string), names.count == 2 {
      self = .joins(table: names[0], source: names[1])
    } else {
      return nil
    }
  }
}

extension WatchedValue {
  /// The column that it is in.
  var column: String {
    switch self {
    case .column(let name), .json(let name, _): name
    }
  }

  fileprivate var json: JSON {
    switch self {
    case .column(let name): [.string(name)]
    case .json(let column, let path): [.string(column), .string(path)]
    }
  }

  fileprivate init?(json: JSON) {
    guard let parts = json.array?.compactMap(\.string), parts.count == json.array?.count
    else { return nil }
    switch parts.count {
    case 1: self = .column(parts[0])
    case 2: self = .json(column: parts[0], path: parts[1])
    default: return nil
    }
  }
}

extension Writer {
  /// Gives every meaning its number, for ever: rows of the journal outlive the model.
  func number(_ meanings: [Watch.Meaning]) throws -> [Watch] {
    try meanings.map { meaning in
      let text = Value.text(meaning.text)
      try db.run(
        """
        INSERT INTO cascade_watch(meaning) SELECT ?1
        WHERE NOT EXISTS (SELECT 1 FROM cascade_watch WHERE meaning = ?1)
        """, text)
      let number = try db.integer("SELECT what FROM cascade_watch WHERE meaning = ?", text)!
      return Watch(number: number, meaning: meaning)
    }
  }
}

extension Connection {
  /// Every watch that there ever was, but for those that a newer Cascade made.
  func watches() throws(SQLiteError) -> [Watch] {
    try all("SELECT what, meaning FROM cascade_watch ORDER BY what") { row in
      Watch.Meaning(text: row.text(1)).map { Watch(number: row.integer(0), meaning: $0) }
    }.compactMap(\.self)
  }
}
