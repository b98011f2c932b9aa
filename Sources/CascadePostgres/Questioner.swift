/// Asks the server that was chosen a question, on a connection of its own, and never waits longer than it
/// is told. A server that hangs takes connections and questions, and answers neither.
package final class Questioner {
  private let server: Server
  private let name: String
  private let question: String
  private var attempt: Attempt?
  private var session: Session?
  private var isSent = false
  /// Since when the server owes an answer.
  package private(set) var openSince: ContinuousClock.Instant?

  package init(_ server: Server, name: String, question: String) {
    (self.server, self.name, self.question) = (server, name, question)
  }

  /// The answer; nil if there is none in time. Asked again, it waits for the one that is owed.
  package func ask(within time: Duration) throws(PostgresError) -> Rows? {
    let end = ContinuousClock.now + time
    openSince = openSince ?? .now
    do throws(PostgresError) {
      if session == nil { try connect(by: end) }
      if session == nil { return nil }
      if !isSent { try session!.send(question) }
      isSent = true
      guard let rows = try session!.answer(within: end - .now, to: question) else { return nil }
      (isSent, openSince) = (false, nil)
      return rows
    } catch {
      close()
      throw error
    }
  }

  private func connect(by end: ContinuousClock.Instant) throws(PostgresError) {
    if attempt == nil { attempt = try server.begin(name) }
    guard let attempt, try attempt.wait(until: end) else { return }
    self.attempt = nil
    session = Session(attempt, of: nil)
  }

  package func close() {
    session = nil
    (attempt, isSent, openSince) = (nil, false, nil)
  }
}
