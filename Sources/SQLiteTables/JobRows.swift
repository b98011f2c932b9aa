internal import CascadeModel
internal import CascadeEngine
package import CascadeSQLite
package import CascadeStore

extension Query {
  /// A condition on a row of `cascade_job`.
  package static let isOpenJob = Query(
    "state IN (\(DeletionJob.State.open.map { "'\($0.rawValue)'" }.joined(separator: ", ")))")
}

/// The rows of `cascade_job`.
extension Connection {
  package func insertJob(
    _ request: DeletionJob.Request, standing: Int? = nil, at now: Int64
  ) throws -> Int64 {
    try integer(
      """
      INSERT INTO cascade_job(state, subject, author, at, expected, is_partial, standing)
      VALUES(?, ?, ?, ?, ?, ?, ?) RETURNING job
      """, .text(DeletionJob.State.running.rawValue), .text(request.subjectText),
      .text(request.author), .integer(now), .integer(request.expected.map(Int64.init)),
      .integer(request.isPartial ? 1 : 0), .integer(standing.map(Int64.init)))!
  }

  package func deleteJob(_ number: Int64) throws {
    try run("DELETE FROM cascade_job WHERE job = ?", .integer(number))
  }

  /// Jobs that followed marks.
  package func deleteEndedMarks(before job: Int64) throws {
    try run(
      """
      DELETE FROM cascade_job WHERE job < \(bind: job) AND subject ->> 'marks' IS NOT NULL
      AND NOT \(Query.isOpenJob)
      """)
  }

  package func lastPass(named pass: String) throws -> DeletionJob? {
    try jobs(
      "subject ->> 'overdue' = \(bind: .text(pass)) ORDER BY job DESC LIMIT 1"
    ).first
  }

  package func jobs(after job: Int64, limit: Int) throws -> [DeletionJob] {
    try jobs("job > \(bind: job) ORDER BY job LIMIT \(bind: Int64(limit))")
  }

  package func job(_ number: Int64) throws -> DeletionJob? {
    try jobs("job = \(bind: number)").first
  }

  package func openJobs() throws -> [DeletionJob] {
    try jobs("\(Query.isOpenJob) ORDER BY job")
  }

  private func jobs(_ condition: Query) throws -> [DeletionJob] {
    try all(
      """
      SELECT job, state, subject, author, at, expected, is_partial, batch, plan, deleted, total,
        by_collection, blocked, approved, standing FROM main.cascade_job WHERE \(condition)
      """
    ) { DeletionJob($0) }
  }

  /// Everything that changes while it is carried out.
  package func save(_ job: DeletionJob) throws {
    try run(
      """
      UPDATE cascade_job SET state = ?, subject = ?, batch = ?, plan = ?, deleted = ?, total = ?,
        by_collection = ?, blocked = ? WHERE job = ?
      """, .text(job.state.rawValue), .text(job.request.subjectText), .integer(job.batch),
      .integer(job.plan),
      .integer(Int64(job.deletedCount)), .integer(job.total.map(Int64.init)),
      .text(job.byCollection.countText), .text(JSON.array(job.blocked).text),
      .integer(job.number))
  }
}

extension DeletionJob {
  fileprivate init(_ row: Row) {
    var request = Request(
      subject: row.text(2), by: row.text(3), isPartial: row.integer(6) == 1)
    request.expected = row.isNull(5) ? nil : Int(row.integer(5))
    self.init(number: row.integer(0), request: request, at: row.integer(4))
    state = State(rawValue: row.text(1)) ?? .cancelled
    batch = row.isNull(7) ? nil : row.integer(7)
    plan = row.isNull(8) ? nil : row.integer(8)
    deletedCount = Int(row.integer(9))
    total = row.isNull(10) ? nil : Int(row.integer(10))
    byCollection = [String: Int](counts: row.text(11))
    blocked = (try? JSON.parse(row.text(12)))?.array ?? []
    approved = row.isNull(13) ? nil : Int(row.integer(13))
    standing = row.isNull(14) ? nil : Int(row.integer(14))
  }
}
