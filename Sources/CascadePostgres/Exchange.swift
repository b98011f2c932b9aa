internal import CPostgreSQL

/// A statement that comes again, with the values of `$1`, `$2`, …
package struct Statement: Sendable {
  package let sql: String
  package let values: [String?]

  package init(_ sql: String, _ values: [String?] = []) { (self.sql, self.values) = (sql, values) }
}

/// Several statements in one exchange with the server.
extension Session {
  /// Runs statements within the transaction that is open or that the first of them begins. Returns what
  /// each of them does.
  @discardableResult
  package func runEach(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
    for statement in statements { try refuseNUL(statement.values, statement.sql) }
    let names = try prepare(statements.map(\.sql))
    unsafe PQenterPipelineMode(connection)
    defer { unsafe PQexitPipelineMode(connection) }
    for (statement, name) in zip(statements, names) {
      let isSent = unsafe CStrings(statement.values).withPointers {
        let count = Int32(statement.values.count)
        return unsafe PQsendQueryPrepared(connection, name, count, $0, nil, nil, 0)
      }
      if isSent == 0 { throw failure(doing: statement.sql) }
    }
    if unsafe PQpipelineSync(connection) == 0 {
      throw failure(doing: "send statements")
    }
    return try takeEach(statements)
  }

  /// Until there is no answer left, the connection cannot be used again.
  private func takeEach(_ statements: [Statement]) throws(PostgresError) -> [Rows] {
    var (all, failure): ([Rows], PostgresError?) = ([], nil)
    for statement in statements {
      do throws(PostgresError) {
        all.append(try unsafe take(PQgetResult(connection), statement.sql))
      } catch {
        failure = failure ?? error
      }
      unsafe PQclear(PQgetResult(connection))
    }
    unsafe PQclear(PQgetResult(connection))
    if let failure { throw failure }
    return all
  }

  /// Asks queries without values. `runAgain` has their answers then, each once, until the session asks
  /// or does anything else.
  package func askAhead(_ queries: [String]) throws(PostgresError) {
    let answers = try runEach(queries.map { Statement($0) })
    for (query, answer) in zip(queries, answers) { known.answers[query] = answer }
  }
}
