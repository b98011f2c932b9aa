import CascadeInspect
import CascadeModel
import CascadeSQLite
import Testing

@Suite struct ReportTests {
  private static func inspection(examples: Bool = false) throws -> Inspection {
    try TestDatabase(
      """
      CREATE TABLE artist(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE "al<bum"(id INTEGER PRIMARY KEY, artist_id INTEGER REFERENCES artist, note TEXT);
      \(rows(2_000, into: "\"al<bum\"", "i, i, '<script>alert(1)</script>'"))
      """
    ).inspect(examples: examples)
  }

  @Test func endsWithTheSum() throws {
    let text = try ReportTests.inspection().text(width: 80)
    #expect(text.hasSuffix("\n2,000 orphaned rows in 1 relationship"))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
    let none = try TestDatabase("CREATE TABLE a(id INTEGER PRIMARY KEY)").inspect()
    #expect(none.text(width: 80).hasSuffix("\n0 orphaned rows in 0 relationships"))
  }

  @Test func isCompleteAsJSON() throws {
    let json = try ReportTests.inspection().json
    #expect(
      json.object?.map(\.name) == ["file", "tables", "relationships", "orphans", "unreferenced"])
    let reference = json["relationships"]?.array?.first
    #expect(
      reference?.object?.map(\.name) == [
        "from", "columns", "to", "toColumns", "found", "likely", "evidence", "onDelete", "rows",
        "orphans", "none", "indexed",
      ])
    #expect(reference?["onDelete"] == "NO ACTION" && reference?["orphans"] == 2_000)
    #expect(json["tables"]?.array?.first?["key"] == ["id"])
  }

  @Test func isOnePageWithoutScriptsAndLinks() throws {
    let html = try ReportTests.inspection(examples: true).html
    #expect(html.mentions("&lt;script&gt;alert(1)") && html.mentions("al&lt;bum"))
    for foreign in ["<script", "<link", "<img", "src=", "href=", "@import", "url(http"] {
      #expect(!html.mentions(foreign), "\(foreign)")
    }
    #expect(html.mentions("prefers-color-scheme: dark") && html.mentions("<svg"))
  }

  @Test func drawsTheTables() throws {
    let inspection = try ReportTests.inspection()
    #expect(inspection.dot.mentions("t0 -> t1 [label=\"artist_id\\n2,000 orphans\", color=\"red\""))
    #expect(inspection.svg.hasPrefix("<svg xmlns=") && inspection.svg.mentions("edge broken"))
  }

  /// The numbers behind each occurrence of a text.
  private static func numbers(behind text: String, in svg: String) -> [[Int]] {
    svg.split(separator: text, omittingEmptySubsequences: false).dropFirst().map { rest in
      rest.prefix { !"/CLM".contains($0) }.split { !$0.isNumber }.compactMap { Int($0) }
    }
  }

  /// A line from the fourth column to the first passes the two between them.
  @Test func drawsNoLineThroughATable() throws {
    let svg = try TestDatabase(
      """
      CREATE TABLE a(id INTEGER PRIMARY KEY);
      CREATE TABLE b(id INTEGER PRIMARY KEY, a_id INTEGER REFERENCES a);
      CREATE TABLE c(id INTEGER PRIMARY KEY, b_id INTEGER REFERENCES b);
      CREATE TABLE d(id INTEGER PRIMARY KEY, c_id INTEGER REFERENCES c, a_id INTEGER REFERENCES a);
      """
    ).inspect().svg
    let boxes = ReportTests.numbers(behind: "<rect x=\"", in: svg)
    let passes = ReportTests.numbers(behind: "L", in: svg)
      .filter { $0.count == 2 && $0[0] >= boxes[0][0] }
    #expect(boxes.count == 4 && passes.count >= 2)
    for pass in passes {
      let isFree = boxes.allSatisfy { box in
        box[0] != pass[0] || !(box[1]...box[1] + box[3] ~= pass[1])
      }
      #expect(isFree, "\(pass) in \(boxes)")
    }
  }
}
