internal import CascadeModel
package import CascadeEngine
package import CascadePostgres
internal import PostgresBinding

/// What became of a file: the values of `cascade.file.state`.
package enum FileState: Int {
  /// It lost an edge.
  case released
  /// It is in the trash, and an edge that was not committed by then may still name it.
  case moved
  case trashed
  /// It is to be put back, or to be deleted for good.
  case toRestore
  case toDelete
}

/// The files that lost an edge, and those in the trash of their roots.
package struct FileRows {
  private let store: StoreConnection

  package init(store: StoreConnection) { self.store = store }

  /// How `cascade.relation` names a root.
  package static let collection = Destination.fileCollection

  package static let sql = """
    -- Files that lost an edge, until no edge names them and they are in the trash of their root, and as
    -- long as they are there. `state` is a FileState; `batch` is null until a sweep has seen it; `at` is
    -- in milliseconds. `xid` is the transaction since which the file is in its state; `plan` is the held
    -- plan to which one belongs that has no batch, and one `is_own` that the daemon let go.
    CREATE TABLE cascade.file(
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, root text NOT NULL, path text NOT NULL,
      batch bigint, at bigint NOT NULL DEFAULT 1000 * extract(epoch FROM clock_timestamp()),
      state smallint NOT NULL DEFAULT 0, xid xid8 NOT NULL DEFAULT pg_current_xact_id(), plan bigint,
      \(isOwn));
    CREATE INDEX file_states ON cascade.file(state, id) WHERE state <> \(FileState.trashed.rawValue);
    CREATE INDEX file_batches ON cascade.file(batch);
    CREATE INDEX file_paths ON cascade.file(root, path);
    """

  /// A trigger runs as the daemon's role, whoever has fired it.
  static let isOwn = "is_own boolean NOT NULL DEFAULT (session_user = current_user)"

  /// Whether some wait for a batch.
  package static let areNew =
    "EXISTS (SELECT FROM cascade.file WHERE batch IS NULL AND state = 0 AND plan IS NULL)"

  /// Whether a batch `l.batch` has something that can be put back.
  package static let isKept = """
    EXISTS (SELECT FROM cascade.file f WHERE f.batch = l.batch
      AND f.state <= \(FileState.trashed.rawValue))
    """

  /// Who let them go.
  package enum Origin: String {
    case anybody = "true"
    /// What an application lets go is for the sweep that reads of the row.
    case daemon = "f.is_own"
    case thisTransaction = "f.xid = pg_current_xact_id()"
  }

  /// Gives a batch to those that have none. Returns how many the batch has.
  @discardableResult
  package func take(into batch: Int64, of origin: Origin = .anybody) throws -> Int {
    if store.model.files.isEmpty { return 0 }
    try store.db.runEach(taking(into: batch, of: origin))
    return try count(batch)
  }

  package func taking(
    into batch: Int64, of origin: Origin = .anybody, _ causes: Causes = .unplanned
  ) -> [Statement] {
    if store.model.files.isEmpty { return [] }
    let isOne = "\(isNew(of: causes)) AND \(origin.rawValue)"
    return [
      Statement(
        "UPDATE cascade.file f SET batch = $1, plan = NULL WHERE \(isOne)", ["\(batch)"])
    ]
  }

  /// Whether a file `f` waits for a batch. There are few, so a condition more misleads no server.
  private func isNew(of causes: Causes) -> String {
    let causes = causes == .all ? .unplanned : causes
    return "f.state = 0 AND f.batch IS NULL AND \(causes.include("f"))"
  }

  /// Whether some of a plan's wait for a batch.
  package func areNew(of causes: Causes) throws -> Bool {
    try store.db.run("SELECT EXISTS (SELECT FROM cascade.file f WHERE \(isNew(of: causes)))").bool
  }

  /// Has those that wait for a batch wait for the approval of a plan.
  package func give(to plan: Int64) throws {
    try store.db.run(
      "UPDATE cascade.file f SET plan = \(plan) WHERE \(isNew(of: .unplanned))")
  }

  /// Leaves those of a rejected plan where they are.
  package func giveUp(_ plan: Int64) throws {
    try store.db.run("DELETE FROM cascade.file f WHERE \(isNew(of: .ofPlan(plan)))")
  }

  package func count(_ batch: Int64) throws -> Int {
    try Int(store.db.run("SELECT count(*) FROM cascade.file WHERE batch = \(batch)").integer ?? 0)
  }

  /// How many are still to be moved.
  var pending: Int64 {
    get throws {
      try store.db.run(
        "SELECT count(*) FROM cascade.file WHERE state <> \(FileState.trashed.rawValue)"
      ).integer ?? 0
    }
  }

  package func rows(_ state: FileState, after id: Int64 = 0, limit: Int) throws -> [ReleasedFile] {
    try store.db.run(
      """
      SELECT id, batch, at, root, path FROM cascade.file
      WHERE state = \(state.rawValue) AND batch IS NOT NULL AND id > \(id) AND \(isSeen)
      ORDER BY id LIMIT \(limit)
      """
    ).rows.map(FileRows.file)
  }

  /// Whether all edges can be seen that may name the file.
  private var isSeen: String {
    let roots = store.binding.stopped.roots.sorted().map(literal).joined(separator: ", ")
    return roots.isEmpty ? "true" : "root NOT IN (\(roots))"
  }

  /// Those that were moved, and whether all transactions that were open then have ended.
  package func moved(limit: Int) throws -> [(file: ReleasedFile, isDue: Bool)] {
    try store.db.run(
      """
      SELECT id, batch, at, root, path, xid < pg_snapshot_xmin(pg_current_snapshot())
      FROM cascade.file WHERE state = \(FileState.moved.rawValue) AND \(isSeen)
      ORDER BY id LIMIT \(limit)
      """
    ).rows.map { (FileRows.file($0), $0[5] == "t") }
  }

  private static func file(_ row: [String?]) -> ReleasedFile {
    ReleasedFile(
      id: Int64(row[0]!)!, batch: Int64(row[1]!)!, at: Int64(row[2]!)!, collection: 0,
      root: row[3]!, path: row[4]!, isPathValid: true)
  }

  package func set(_ state: FileState, _ files: [ReleasedFile]) throws {
    if files.isEmpty { return }
    try store.db.run(
      """
      UPDATE cascade.file SET state = \(state.rawValue), xid = pg_current_xact_id()
      WHERE id = ANY($1::bigint[])
      """, [arrayText(files.map { "\($0.id)" })])
  }

  package func remove(_ files: [ReleasedFile]) throws {
    if files.isEmpty { return }
    try store.db.run(
      "DELETE FROM cascade.file WHERE id = ANY($1::bigint[])",
      [arrayText(files.map { "\($0.id)" })])
  }

  /// The ids of those that an edge names.
  package func named(_ files: [ReleasedFile]) throws -> Set<Int64> {
    var named: Set<Int64> = []
    for (root, files) in Dictionary(grouping: files, by: \.root) {
      for relation in store.binding.files where relation.root == root {
        let path = relation.path
        let paths = try store.db.run(
          """
          SELECT DISTINCT \(path) FROM \(relation.edges)
          WHERE \(relation.mayName(anyOf: "SELECT unnest($1::text[])")) AND \(path) = ANY($1::text[])
          """, [arrayText(files.map(\.path))]
        ).texts
        named.formUnion(
          files.filter { file in paths.contains { $0.utf8.elementsEqual(file.path.utf8) } }
            .map(\.id))
      }
    }
    return named
  }

  /// Those of a batch that can be put back.
  package func kept(by batch: Int64) throws -> [ReleasedFile] {
    try store.db.run(
      """
      SELECT id, batch, at, root, path FROM cascade.file
      WHERE batch = \(batch) AND state <= \(FileState.trashed.rawValue)
      """
    ).rows.map(FileRows.file)
  }

  /// Marks the files of a batch that are to be put back. Returns how many.
  package func restore(_ batch: Int64) throws -> Int {
    try store.db.run(
      """
      UPDATE cascade.file SET state = \(FileState.toRestore.rawValue)
      WHERE batch = \(batch) AND state <= \(FileState.trashed.rawValue)
      """
    ).changed
  }

  /// How many files only nodes in the set of a closure name.
  package func countReleased() throws -> Int {
    guard let released else { return 0 }
    return try Int(store.db.run("SELECT count(*) \(released)").integer ?? 0)
  }

  /// Whether this is one of them.
  package func isReleased(_ path: String, in root: String) throws -> Bool {
    guard let released else { return false }
    return try store.db.run(
      "SELECT EXISTS (SELECT \(released) AND p.root = $1 AND p.path = $2)", [root, path]
    ).bool
  }

  /// These files `p`, for SELECT; nil if there can be none.
  private var released: String? {
    let lost = store.binding.files.filter(\.releases).map { relation in
      let (key, path) = (relation.source.key, relation.path)
      return """
        SELECT \(literal(relation.root)), \(path) FROM \(store.scratch[.gone]) g, \(relation.edges)
        WHERE g.collection = \(relation.source.number) AND \(key.equal("s", text: "g.key"))
        AND \(path) IS NOT NULL
        """
    }
    if lost.isEmpty { return nil }
    let names = store.binding.files.map { relation in
      let key = relation.source.key.text("s")
      return """
        SELECT FROM \(relation.edges) WHERE p.root = \(literal(relation.root))
        AND \(relation.mayName(anyOf: "SELECT p.path"))
        AND \(relation.path) = p.path AND NOT EXISTS (SELECT FROM \(store.scratch[.gone]) o
          WHERE o.collection = \(relation.source.number) AND o.key = \(key))
        """
    }
    let isNamed = names.map { "EXISTS (\($0))" }.joined(separator: " OR ")
    return "FROM (\(lost.joined(separator: " UNION "))) p(root, path) WHERE NOT (\(isNamed))"
  }
}
