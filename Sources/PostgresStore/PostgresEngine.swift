package import CascadeModel
internal import CascadePostgres
package import CascadeStore
internal import PostgresSweeps

/// Stores in PostgreSQL databases. The server takes care of files, locks and damage, so most
/// questions about files have no answer here.
package struct PostgresEngine: StoreEngine {
  package init() {}

  package func objections(to path: String, _ model: StoreModel) -> [ModelProblem] {
    UnsupportedParts.problems(of: model, at: path)
  }

  package func watchCommits(of path: String) throws -> (any CommitWatching)? {
    try CommitWatch(path)
  }

  package func watchServer(of path: String, _ model: StoreModel) throws -> (any ServerWatching)? {
    try ServerPulse(path, model)
  }

  package func openForWriting(
    _ path: String, model: StoreModel, creates: Bool, attaches: Bool, lockTimeout: Duration
  ) throws -> any StoreWriting {
    try PostgresWriter(path, model, attaches: attaches, lockTimeout: lockTimeout)
  }

  package func openForReading(
    _ path: String, model: StoreModel, lockTimeout: Duration
  ) throws -> any StoreReading {
    try PostgresReader(path, model, lockTimeout: lockTimeout)
  }

  package func detach(_ path: String) throws -> DetachReport {
    let writer = try PostgresWriter(path, .empty, attaches: nil, lockTimeout: .seconds(5))
    return try writer.detach()
  }

  package func refuseHarm(at path: String) {}
  package func ownershipProblems(at path: String) -> [String] { [] }
  package func filesOfCommits(at path: String) -> [String] { [] }
  package func isLocked(at path: String) -> Bool { false }
  package func userOfFile(at path: String) -> String? { nil }
  package func isAsLeft(at path: String) -> Bool { true }
  package func willChangeJournal(at path: String, _ model: StoreModel) -> Bool { false }
  package func openTransactions(at path: String) -> [OpenTransaction] { [] }

  package func isLocked(_ error: any Error) -> Bool {
    (error as? PostgresError).map { $0.isLocked || $0.isConflict } ?? false
  }

  package func endsByReopening(_ error: any Error) -> Bool {
    (error as? PostgresError)?.isConnectionLost ?? false
  }

  package func isFull(_ error: any Error) -> Bool { (error as? PostgresError)?.isFull ?? false }

  package func isDamage(_ error: any Error) -> Bool { (error as? PostgresError)?.isDamage ?? false }
}

/// A server's database is not replaced like a file.
struct OpenDatabase: OpenedStore {
  var standing: StoreStanding { .sameFile }
  var closed: any OpenedStore { self }
  func waitForQuiet() {}
  func refuseLeftovers() {}
}
