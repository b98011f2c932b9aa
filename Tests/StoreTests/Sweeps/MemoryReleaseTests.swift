import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps
import SQLiteEdges

@Suite("Memory that is given back")
struct MemoryReleaseTests {
  @Test("A writer goes on afterwards")
  func writer() throws {
    let store = try TestStore()
    try store.apply([.put(node("1"), type: nil, value: nil, edges: nil)])
    for _ in 1...2 {
      try store.rest()
      _ = try store.writer.foreignCommits()
      try store.apply([.put(node("2"), type: nil, value: nil, edges: nil)])
      try store.writer.copyLogIntoDatabase()
    }
    #expect(try store.writer.sweep([.all], at: 1).outcome == .nothing)
  }

  private func node(_ key: String) -> Node { Node("a", .text(key)) }
}
