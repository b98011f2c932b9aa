internal import CascadeEngine
internal import CascadeModel
internal import CascadePostgres
package import CascadeStore

/// Deletions that began here, and what they still have to delete.
package struct JobRows {
  private let store: StoreConnection
  private var db: Session { _read { yield store.db } }

  package init(_ store: StoreConnection) { self.store = store }

  static let sql = """
    -- `subject`, `by_collection` and `blocked` are JSON. `approved` is how many nodes may go, because an
    -- operator has approved them.
    CREATE TABLE IF NOT EXISTS cascade.job(
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, state text NOT NULL, subject text NOT NULL,
      author text NOT NULL, at bigint NOT NULL, expected bigint, is_partial boolean NOT NULL,
      approved bigint, batch bigint, plan bigint, deleted bigint NOT NULL DEFAULT 0, total bigint,
      by_collection text NOT NULL DEFAULT '{}', blocked text NOT NULL DEFAULT '[]', standing bigint);
    -- Nodes of a job in the order in which they go: by `place`, and the highest level first. Those with
    -- which it begins are of the level 0; another one goes because of `rule` of the relation `via` to `other`.
    CREATE TABLE IF NOT EXISTS cascade.job_node(
      job bigint NOT NULL, place int NOT NULL, collection int NOT NULL, key text NOT NULL,
      level int NOT NULL, rule smallint, via int, other text);
    CREATE INDEX IF NOT EXISTS job_nodes ON cascade.job_node(job, place, level DESC, rule, via);
    """

  package func insert(
    _ request: DeletionJob.Request, standing: Int? = nil, at now: Int64
  ) throws -> Int64 {
    try db.run(
      """
      INSERT INTO cascade.job(state, subject, author, at, expected, is_partial, standing)
      VALUES($1, $2, $3, \(now), $4::bigint, \(request.isPartial), $5::bigint) RETURNING number
      """,
      [
        DeletionJob.State.running.rawValue, request.subjectText, request.author,
        request.expected.map(String.init), standing.map(String.init),
      ]
    ).integer!
  }

  package func delete(_ number: Int64) throws {
    try db.run("DELETE FROM cascade.job WHERE number = \(number)")
  }

  /// Jobs that followed marks.
  package func deleteEndedMarks(before job: Int64) throws {
    try db.run(
      """
      DELETE FROM cascade.job WHERE number < \(job) AND subject::json -> 'marks' IS NOT NULL
      AND NOT \(JobRows.isOpen)
      """)
  }

  package func lastPass(named pass: String) throws -> DeletionJob? {
    try jobs(
      "subject::json ->> 'overdue' = \(literal(pass)) ORDER BY number DESC LIMIT 1"
    ).first
  }

  package func jobs(after job: Int64, limit: Int) throws -> [DeletionJob] {
    try jobs("number > \(job) ORDER BY number LIMIT \(limit)")
  }

  package func job(_ number: Int64) throws -> DeletionJob? {
    try jobs("number = \(number)").first
  }

  package func open() throws -> [DeletionJob] {
    try jobs("\(JobRows.isOpen) ORDER BY number")
  }

  /// A condition on a row of `cascade.job`.
  package static let isOpen =
    "state IN (\(DeletionJob.State.open.map { literal($0.rawValue) }.joined(separator: ", ")))"

  private func jobs(_ condition: String) throws -> [DeletionJob] {
    try db.run(
      """
      SELECT number, state, subject, author, at, expected, is_partial, batch, plan, deleted, total,
        by_collection, blocked, approved, standing FROM cascade.job WHERE \(condition)
      """
    ).rows.map { DeletionJob($0) }
  }

  /// What an operator approves may go, with what went before.
  package func letGoOn(ofPlan plan: Int64) throws {
    try db.run(
      """
      UPDATE cascade.job SET state = $1, approved = deleted
        + (SELECT p.deleted FROM cascade.plan p WHERE p.number = \(plan))
      WHERE plan = \(plan) AND state = $2
      """, [DeletionJob.State.running.rawValue, DeletionJob.State.held.rawValue])
  }

  /// Called in the transaction that deletes.
  package func add(_ deleted: Int, to job: Int64) throws {
    if deleted == 0 { return }
    try db.run("UPDATE cascade.job SET deleted = deleted + \(deleted) WHERE number = \(job)")
  }

  package func save(_ job: DeletionJob) throws {
    try db.run(
      """
      UPDATE cascade.job SET state = $1, batch = $2::bigint, plan = $3::bigint, deleted = $4::bigint,
        total = $5::bigint, by_collection = $6, blocked = $7, subject = $8 WHERE number = \(job.number)
      """,
      [
        job.state.rawValue, job.batch.map(String.init), job.plan.map(String.init),
        "\(job.deletedCount)", job.total.map(String.init), job.byCollection.countText,
        JSON.array(job.blocked).text, job.request.subjectText,
      ])
  }
}

extension DeletionJob {
  fileprivate init(_ row: [String?]) {
    var request = Request(subject: row[2]!, by: row[3]!, isPartial: row[6] == "t")
    request.expected = row[5].flatMap { Int($0) }
    self.init(number: Int64(row[0]!)!, request: request, at: Int64(row[4]!)!)
    state = State(rawValue: row[1]!) ?? .cancelled
    (batch, plan) = (row[7].flatMap { Int64($0) }, row[8].flatMap { Int64($0) })
    (deletedCount, total) = (Int(row[9]!)!, row[10].flatMap { Int($0) })
    byCollection = [String: Int](counts: row[11]!)
    blocked = (try? JSON.parse(row[12]!))?.array ?? []
    (approved, standing) = (row[13].flatMap { Int($0) }, row[14].flatMap { Int($0) })
  }
}
