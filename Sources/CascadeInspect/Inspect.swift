internal import CascadeModel
package import CascadeSQLite
internal import CascadeSystem
internal import SQLiteBinding

/// Reads any SQLite database, and tells what refers to what and what is broken.
package enum Inspect {
  /// What is being done, and how far it is.
  package struct Progress: Sendable {
    package let what: String
    package let done: Int
    package let of: Int
  }

  package struct Options {
    package var root: String?
    /// Whether to keep some rows that refer to nothing.
    package var wantsExamples = false
    package var progress: (Progress) -> Void = { _ in }

    package init() {}
  }

  /// How often a file is read again that changes meanwhile.
  private static let mostAttempts = 10

  package static func file(_ path: String, _ options: Options = Options()) throws -> Inspection {
    try unchanged(path) { try Inspector($0, options).run() }
  }

  /// Reads a database in the same way, by a connection to it. `read` runs again if the file changed
  /// meanwhile.
  package static func reading<T>(
    _ path: String, _ read: (consuming Connection) throws -> T
  ) throws -> T {
    try unchanged(path) { try read($0.open()) }
  }

  private static func unchanged<T>(_ path: String, _ read: (DatabaseFile) throws -> T) throws -> T {
    do {
      for _ in 1...mostAttempts {
        if let found = try attempt(path, read) { return found }
        SystemClock.sleep(for: .milliseconds(50))
      }
    } catch let error as SQLiteError {
      throw InspectError(error, at: path)
    } catch let error as SystemError {
      throw InspectError(error, at: path)
    }
    throw InspectError(.busy, "\(path) changes all the time: try again later")
  }

  /// Nil if the file changed while it was read without a lock.
  private static func attempt<T>(
    _ path: String, _ read: (DatabaseFile) throws -> T
  ) throws -> T? {
    let file = try DatabaseFile(path)
    let isUnprotected = file.method == .immutable
    do {
      let found = try read(file)
      return isUnprotected && file.hasChanged ? nil : found
    } catch {
      if isUnprotected && file.hasChanged { return nil }
      throw error
    }
  }
}

/// One inspection of one file.
private final class Inspector {
  private let database: Database
  private let options: Inspect.Options
  private var inspection: Inspection
  private let clock: ProgressClock

  init(_ file: DatabaseFile, _ options: Inspect.Options) throws {
    let clock = ProgressClock(options.progress)
    self.clock = clock
    self.options = options
    database = try Database(file) { clock.tick() }
    inspection = Inspection(file: file.path)
  }

  func run() throws -> Inspection {
    clock.begin("reading the schema", of: 0)
    let schema = try database.tables()
    clock.begin("reading", of: schema.count)
    let tables = try schema.map { table in
      clock.next(table.name)
      return try database.sample(table)
    }
    inspection.schema = schema
    inspection.saysNoAction = try database.tablesSayingNoAction()
    inspection.tables = tables.map {
      Inspection.TableSize(table: $0.name, rows: $0.rows, key: $0.table.primaryKey)
    }
    let detective = try Detective(database, tables)
    try find(tables, detective)
    let known = Dictionary(uniqueKeysWithValues: schema.map { ($0.name, $0) })
    try count(known)
    try findMoved(detective)
    try sumOrphans(known)
    try findUnreferenced(tables)
    return inspection
  }

  private func find(_ tables: [SampledTable], _ detective: Detective) throws {
    clock.begin("comparing", of: tables.count)
    var found = try detective.relationships { clock.next($0) }
    found += detective.joins(found)
    inspection.relationships = found
    guard let root = options.root else { return }
    guard let real = FileStatus.realPath(root) else {
      throw InspectError(.missing, "there is no directory \(root)")
    }
    let finder = PathFinder(database: database, root: real)
    for table in tables { inspection.relationships += try finder.relationships(of: table) }
  }

  private func count(_ tables: [String: Table]) throws {
    clock.begin("counting", of: inspection.relationships.count)
    for index in inspection.relationships.indices {
      var reference = inspection.relationships[index]
      clock.next("\(reference.source).\(reference.columns.joined(separator: ", "))")
      guard let table = tables[reference.source], reference.found != .path else { continue }
      if let join = reference.join { combineEnds(&reference, join) }
      try database.count(
        &reference, number: index, in: table, parent: tables[reference.to])
      // A type that names a table by accident.
      if reference.found == .typed, reference.orphans * 2 > reference.rows {
        reference.isLikely = reference.rows < 10
      }
      if options.wantsExamples, reference.orphans > 0, reference.found != .join {
        reference.examples = try database.examples(of: reference, in: table)
      }
      inspection.relationships[index] = reference
    }
  }

  /// What was counted of the two references makes the count of their join fast.
  private func combineEnds(
    _ reference: inout InspectedRelationship, _ join: InspectedRelationship.Join
  ) {
    let ends = inspection.relationships.filter {
      $0.from == join.table && [join.source, join.destination].contains($0.columns)
    }
    reference.refers = ends.map(\.refers).joined(separator: " AND ")
    reference.dangles = "(\(ends.map(\.dangles).joined(separator: " OR ")))"
  }

  private func findMoved(_ detective: Detective) throws {
    clock.begin("looking for rows that were moved", of: inspection.broken.count)
    inspection.relationships = try inspection.relationships.flatMap { reference in
      clock.next(reference.source)
      return try detective.withMoves(reference)
    }
  }

  private func sumOrphans(_ tables: [String: Table]) throws {
    let broken = Dictionary(grouping: inspection.broken, by: \.from)
    clock.begin("adding up", of: broken.count)
    for (name, references) in broken {
      clock.next(name)
      let counted = references.filter { $0.found != .path }
      let files = references.filter { $0.found == .path }.reduce(0) { $0 + $1.orphans }
      guard let table = tables[name] else { continue }
      inspection.orphans += try database.orphans(of: counted, in: table) + files
    }
  }

  private func findUnreferenced(_ tables: [SampledTable]) throws {
    clock.begin("looking for rows that nothing refers to", of: tables.count)
    for table in tables {
      clock.next(table.name)
      let references = inspection.relationships.filter {
        $0.to == table.name && $0.isLikely && $0.rows > 0 && ![.join, .path].contains($0.found)
      }
      // Most rows cannot be referred to by fewer references.
      let most = references.reduce(0) { $0 + ($1.found == .list ? table.rows : $1.rows) }
      guard table.rows > 0, most * 2 > table.rows,
        let rows = try database.unreferenced(table, by: references), rows > 0,
        rows * 2 < table.rows
      else { continue }
      inspection.unreferenced.append(Inspection.UnreferencedRows(table: table.name, rows: rows))
    }
  }
}

/// Tells the progress a few times a second.
private final class ProgressClock {
  private let tell: (Inspect.Progress) -> Void
  private var what = ""
  private var detail = ""
  private var (done, total) = (0, 0)
  private var last: Int64 = 0

  init(_ tell: @escaping (Inspect.Progress) -> Void) { self.tell = tell }

  func begin(_ what: String, of total: Int) {
    (self.what, self.total, done, detail) = (what, total, 0, "")
    tick()
  }

  func next(_ detail: String) {
    self.detail = detail
    done += 1
    tick()
  }

  private static let pause: Int64 = 150

  func tick() {
    let now = SystemClock.monotonic()
    if now - last < ProgressClock.pause { return }
    last = now
    let text = detail.isEmpty ? what : "\(what) \(detail)"
    tell(Inspect.Progress(what: text, done: done, of: total))
  }
}

extension Database {
  /// SQLite tells NO ACTION also where the schema says nothing.
  func tablesSayingNoAction() throws -> Set<String> {
    Set(
      try db.all(
        """
        SELECT name FROM main.sqlite_schema
        WHERE type = 'table' AND sql LIKE '%ON%DELETE%NO%ACTION%'
        """
      ) { $0.text(0) })
  }
}
