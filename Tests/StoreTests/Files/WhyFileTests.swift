import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeEngine
import CascadeStore
import SQLiteStore
import SQLiteTables
import CascadeSystem
import Testing
import SQLiteUndo
import SQLiteSweeps

/// What became of a file, told as of a node: by the chain that begins with the file itself.
@Suite("Why a file is there, or went")
struct WhyFileTests {
  private let files: FileFixture
  private let note = Node("notes", .text("n"))

  init() throws { files = try FileFixture(#"trash: "1h""#) }

  private func deletion(_ path: String) throws -> Why.Deletion? {
    if case .deleted(let deletion) = try files.store.reader.why(files.file(path)) {
      return deletion
    }
    return nil
  }

  private func chain(_ path: String) throws -> [Destination]? {
    try deletion(path)?.chain.map(\.subject)
  }

  private func album(_ number: Int64) -> Destination { .node(Node("albums", .integer(number))) }

  private func holders(_ path: String) throws -> [Node] {
    guard case .alive(let holders, let total, _) = try files.store.reader.why(files.file(path))
    else { return [] }
    #expect(total == holders.count)
    return holders.map(\.source)
  }

  @Test("As long as something names it, that is why it is there")
  func alive() throws {
    try files.write("1")
    try files.apply(.put(note, type: nil, value: nil, edges: nil), files.edge("n", "1"))
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, NULL, '[\"1\"]')")
    #expect(
      try Set(holders("1"))
        == [
          Node("albums", .integer(1)), Node("albums", .integer(2)), note,
        ])
    #expect(try holders("never").isEmpty && deletion("never") == nil)
  }

  @Test("It went with a row that the application deleted, or that lost it", arguments: [1, 2])
  func bySQL(row: Int64) throws {
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, NULL, '[\"2\", \"1\"]')")
    try files.bySQL("DELETE FROM album WHERE id = \(3 - row)")
    #expect(try holders("1") == [Node("albums", .integer(row))])
    let deletes = row == 1 ? "DELETE FROM album" : "UPDATE album SET extra = NULL"
    let batch = try files.bySQL(deletes)
    let deletion = try #require(try deletion("1"))
    #expect(deletion.batch == batch && deletion.cause == .sweep)
    #expect(deletion.chain.map(\.subject) == [files.file("1")] + (row == 1 ? [album(1)] : []))
    let edge = try #require(deletion.chain[0].edge)
    #expect(edge.source == Node("albums", .integer(row)) && edge.destination == files.file("1"))
    #expect(deletion.chain[0].rule == "deleteDestinationIfAllSourcesDeleted")
  }

  @Test("It went with what a change file deleted", arguments: [nil, 1] as [Int64?])
  func byFile(rows: Int64?) throws {
    if let rows { files.store.sweepsInSteps(of: rows) }
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL)")
    try files.apply(.put(note, type: nil, value: nil, edges: nil), files.edge("n", "2"))
    try files.apply(.delete(Node("albums", .integer(1))), .delete(note))
    #expect(try chain("1") == [files.file("1"), album(1)])
    #expect(try chain("2") == [files.file("2"), .node(note)])
    #expect(try deletion("2")?.author == "test")
  }

  @Test("What came back did not go")
  func undone() throws {
    try files.write("1", "2")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL), (2, '2', NULL)")
    let batch = try #require(
      try files.apply(.delete(Node("albums", .integer(1))), .delete(Node("albums", .integer(2))))
        .batch)
    try files.tend()
    _ = try files.store.writer.undo(batch, by: "me", at: SystemClock.wall())
    try files.tend()
    #expect(try holders("1") == [Node("albums", .integer(1))])
    try files.store.bySQL("UPDATE album SET cover = NULL")
    #expect(try deletion("1") == nil && files.isThere("1"))
  }

  private struct Untold: Error {}

  @Test("A sweep of files lets it go without a rule, and because of no node")
  func withoutRule() throws {
    let files = try FileFixture(#"trash: "1h""#, rules: "[]")
    try files.write("1")
    try files.store.bySQL("INSERT INTO album VALUES(1, '1', NULL)")
    try files.bySQL("DELETE FROM album")
    let batch = try files.store.writer.sweep([.files], at: SystemClock.wall()).batch
    for _ in 1...2 {
      guard case .deleted(let deletion) = try files.store.reader.why(files.file("1")) else {
        throw Untold()
      }
      #expect(deletion.batch == batch && deletion.chain.isEmpty)
      try files.tend()
    }
  }
}
