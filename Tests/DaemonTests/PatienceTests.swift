import CascadeModel
import Testing

/// A transaction that reads and then writes fails if a sweep commits in between.
@Suite struct PatienceTests {
  @Worker @Test func aSweepWaitsForTransactionsOfOtherProcesses() throws {
    let store = try Library.store(more: "limits: { patience: '1m' }")
    let outcome = try store.python("Tests/Foreign/transactions.py", "waits", store.path)
    #expect(outcome.status == 0, "\(outcome.error)")
    #expect(try store.texts("SELECT name FROM artist WHERE id = 'nina'") == ["changed"])
  }

  @Worker @Test func aTransactionThatStaysIsWaitedForOnce() throws {
    let store = try Library.store(more: "limits: { patience: '2s' }")
    let outcome = try store.python("Tests/Foreign/transactions.py", "once", store.path)
    let times = outcome.output.split(separator: "\n").compactMap { Double($0) }
    #expect(times.count == 2, "\(outcome.error)")
    #expect(times[0] > 1.5 && times[1] < 1.5, "\(times)")
  }

  @Worker @Test func withoutPatienceASweepWaitsForNone() throws {
    let store = try Library.store(more: "limits: { patience: '0' }")
    let outcome = try store.python("Tests/Foreign/transactions.py", "once", store.path)
    let times = outcome.output.split(separator: "\n").compactMap { Double($0) }
    #expect(times.count == 2 && times[0] < 1.5, "\(outcome.error)")
  }
}

extension TestStore {
  /// Runs a Python program of this repository.
  func python(_ program: String, _ arguments: String...) throws -> Outcome {
    try run(["/usr/bin/python3", "-B", repositoryPath(program)] + arguments)
  }
}

/// The absolute path of a file of this repository.
func repositoryPath(_ path: String) -> String {
  let here = #filePath
  let root = here.firstRange(of: "/Tests/DaemonTests/").map { here[..<$0.lowerBound] } ?? ""
  return "\(root)/\(path)"
}
