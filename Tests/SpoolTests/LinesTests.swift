import CascadeModel
import Spool
import CascadeStore
import CascadeSystem
import Testing

/// Files of one change a line.
@Suite("NDJSON")
struct LinesTests {
  let spool: TestSpool

  init() throws { spool = try TestSpool() }

  private func lines(_ header: String? = nil, _ lines: String...) -> String {
    ((header.map { [$0] } ?? []) + lines).joined(separator: "\n") + "\n"
  }

  @Test("Without a header the lines are one transaction, under the file's name")
  func noHeader() throws {
    try spool.put("a.ndjson", lines(nil, put("A"), put("B")))
    let receipt = try #require(try spool.drain().first).receipt
    #expect((receipt.outcome, receipt.id) == (.applied, "a.ndjson"))
    #expect(try spool.keys() == "A B")
  }

  @Test("A header gives id and author")
  func header() throws {
    try spool.put("a.ndjson", lines(#"{"id":"x","author":"me"}"#, put("A")))
    let receipt = try #require(try spool.drain().first).receipt
    #expect((receipt.id, receipt.author) == ("x", "me"))
  }

  @Test(
    "Ends of lines are \\n or \\r\\n or that of the file; blank lines are none",
    arguments: ["", "\n", "\n\n", "\r\n", "\r\n \t\n"], ["", #"{"batch":1}"# + "\n"])
  func endsOfLines(end: String, header: String) throws {
    try spool.put("a.ndjson", "\(header)\(put("A"))\r\n\n\(put("B"))\n\(put("C"))\(end)")
    #expect(try spool.settle() == ["a.ndjson applied"])
    #expect(try spool.keys() == "A B C")
    #expect(try spool.inbox?.writer.ledgerEntry("a.ndjson")?.isComplete == true)
  }

  @Test(
    "A file without changes is applied", arguments: ["", "\n", #"{"id":"x"}"#, #"{"batch":3}"#])
  func empty(text: String) throws {
    try spool.put("a.ndjson", text)
    #expect(try spool.settle() == ["a.ndjson applied"])
  }

  @Test("One bad line refuses all of them, and is named", arguments: ["", #"{"batch":1}"#])
  func badLine(header: String) throws {
    try spool.put("a.ndjson", lines(header, put("A"), "", put("B"), #"{"putt":1}"#, put("C")))
    #expect(try spool.settle() == ["a.ndjson rejected"])
    let reason = try #require(try spool.reasonFile("a.ndjson")["reasons"]?.array?.first)
    #expect((reason["code"], reason["line"]) == ("malformed", 5))
    #expect(try spool.keys() == "")
  }

  @Test("A change that the store refuses is named by its line", arguments: [0, 1, 2, 3, 9])
  func refusedLine(batch: Int) throws {
    let header = batch == 0 ? #"{"id":"x"}"# : #"{"id":"x","batch":\#(batch)}"#
    let patch = #"{"patch":["n","Z"],"set":{}}"#
    try spool.put("a.ndjson", lines(header, put("A"), "", put("B"), patch, put("C")))
    #expect(try spool.settle() == ["a.ndjson rejected"])
    let reason = try #require(try spool.reasonFile("a.ndjson")["reasons"]?.array?.first)
    #expect((reason["code"], reason["line"], reason["path"]) == ("invalid", 5, nil))
    #expect(try spool.keys() == ((1...2).contains(batch) ? "A B" : ""))
  }

  // MARK: - Batches

  @Test("With `batch` there is a transaction for every so many lines", arguments: 1...8)
  func batch(size: Int) throws {
    let puts = (1...7).map { put("\($0)") }.joined(separator: "\n")
    try spool.put("a.ndjson", #"{"batch":\#(size)}"# + "\n\(puts)\n")
    #expect(try spool.step()?.isEmpty == true)
    var steps = 0
    while let outcomes = try spool.step(), outcomes.isEmpty { steps += 1 }
    #expect(steps == (7 + size - 1) / size - 1)
    let entry = try #require(try spool.inbox?.writer.ledgerEntry("a.ndjson"))
    #expect((entry.part, entry.isComplete) == (Int64(steps), true))
    #expect(try spool.keys() == "1 2 3 4 5 6 7")
    #expect(try spool.names("new") == [])
  }

  @Test("The receipt sums up all of its transactions")
  func sums() throws {
    try spool.put("1.json", changes: put("A"), put("B"), put("C"))
    let changes = [delete("A"), delete("none"), delete("B"), put("D"), delete("C")]
    try spool.put("2.ndjson", "{\"batch\":2}\n" + changes.joined(separator: "\n"))
    let receipt = try #require(try spool.drain().last).receipt
    #expect(receipt.deleted.compactMap(\.key.managedText) == ["A", "B", "C"])
    #expect((receipt.deletedCount, receipt.skippedChanges) == (3, 1))
  }

  @Test("Files behind one of many transactions wait for it, files before it do not")
  func orderAroundBatch() throws {
    try spool.put("1.json", changes: put("A", "1"))
    try spool.put("2.ndjson", "{\"batch\":1}\n" + put("A", "2") + "\n" + put("A", "3"))
    try spool.put("3.json", changes: put("A", "4"))
    #expect(try spool.step()?.map(\.name) == ["1.json"])
    #expect(try spool.settle() == ["2.ndjson applied", "3.json applied"])
    #expect(try spool.value("A") == "4")
  }

  @Test("A restart goes on behind the last part, wherever it was", arguments: 0...5)
  func restart(steps: Int) throws {
    let keys = (1...9).map { "\($0)" }
    try spool.put("1.json", changes: keys.map { put($0) }.joined(separator: ","))
    try spool.drain()
    let deletions = keys.flatMap { ["", delete($0)] }.joined(separator: "\n")
    try spool.put("2.ndjson", "{\"batch\":2}\n\(deletions)\n")
    // The first step judges the file, each after it applies a part.
    for _ in 0..<steps { #expect(try spool.step()?.isEmpty == true) }
    #expect(try spool.keys().split(separator: " ").count == 9 - 2 * max(steps - 1, 0))
    try spool.restart()
    let receipt = try #require(try spool.drain().first).receipt
    #expect(receipt.outcome == .applied)
    // A line that was applied twice would be passed over the second time.
    #expect((receipt.deletedCount, receipt.skippedChanges) == (9 - 2 * max(steps - 1, 0), 0))
    #expect(try spool.keys() == "")
    #expect(try spool.inbox?.writer.ledgerEntry("2.ndjson")?.part == 4)
  }

  @Test("A part that is refused keeps the parts before it, and ends the file")
  func refusedPart() throws {
    let patch = #"{"patch":["n","Z"],"set":{}}"#
    let text = lines(#"{"id":"x","batch":1}"#, put("A"), put("B"), patch, put("C"))
    try spool.put("a.ndjson", text)
    #expect(try spool.settle() == ["a.ndjson rejected"])
    #expect(try spool.keys() == "A B")
    #expect(try spool.inbox?.writer.ledgerEntry("x")?.isComplete == false)
    try spool.put("b.json", changes: put("Z", "{}"))
    try spool.drain()
    #expect(try spool.spool.retry("a.ndjson"))
    #expect(try spool.settle() == ["a.ndjson applied"])
    #expect(try spool.keys() == "A B C Z")
  }

  @Test("A mended file does not go on under the id of the one that was half applied")
  func mendedFile() throws {
    let patch = #"{"patch":["n","Z"],"set":{}}"#
    try spool.put("a.ndjson", lines(#"{"id":"x","batch":1}"#, put("A"), patch))
    try spool.drain()
    try spool.put("b.ndjson", lines(#"{"id":"x","batch":1}"#, put("B"), put("C")))
    #expect(try spool.settle() == ["b.ndjson rejected"])
    #expect(try spool.keys() == "A")
  }

  @Test("A file of many transactions that comes again is a duplicate")
  func duplicate() throws {
    let text = lines(#"{"id":"x","batch":1}"#, put("A"), put("B"))
    try spool.put("a.ndjson", text)
    try spool.put("b.ndjson", text)
    #expect(try spool.settle() == ["a.ndjson applied", "b.ndjson duplicate"])
  }
}
