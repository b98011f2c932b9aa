import CascadeEngine
import Testing

/// How a kept row fits a table that has changed since: a decision of both engines, without a database.
///
/// A column is written `name#identity:type`; `!` behind it: a row cannot be without it; `=`: it is
/// generated; `*`: it is of the key.
@Suite("A kept row, and its table as it is now")
struct RowFitTests {
  private func kept(_ columns: String, table: String = "song", identity: Int64? = 1) -> KeptShape {
    KeptShape(table: table, identity: identity, columns: columns.split(separator: " ").map(column))
  }

  private func column(_ text: Substring) -> KeptShape.Column {
    let parts = parse(text)
    return KeptShape.Column(name: parts.name, identity: parts.identity, type: parts.type)
  }

  private func parse(_ text: Substring) -> (name: String, identity: Int64?, type: String) {
    let typed = text.drop { "!=*".contains($0) }.split(separator: ":")
    let named = typed[0].split(separator: "#")
    return (
      String(named[0]), named.count > 1 ? Int64(named[1]) : nil,
      typed.count > 1 ? String(typed[1]) : "text"
    )
  }

  private func now(
    _ columns: String, table: String = "song", identity: Int64? = 1, was: [String: String] = [:],
    tableWas: String? = nil
  ) -> TableShape {
    let columns = columns.split(separator: " ").map { text in
      let (parts, marks) = (parse(text), text.prefix { "!=*".contains($0) })
      return TableShape.Column(
        name: parts.name, identity: parts.identity, type: parts.type,
        isGenerated: marks.contains("="), isKey: marks.contains("*"),
        isOptional: !marks.contains("!") && !marks.contains("*"))
    }
    return TableShape(
      table: table, identity: identity, columns: columns, was: was, tableWas: tableWas)
  }

  /// As `column<-name`, with the old type behind it where the value has to be converted.
  private func fillings(_ kept: KeptShape, _ now: TableShape) -> [String] {
    kept.fit(now).fillings.map { filling in
      let old = filling.oldType.map { " from \($0)" } ?? ""
      return "\(filling.column.name)<-\(kept.columns[filling.place].name)\(old)"
    }
  }

  @Test("A table that has not changed takes all values as they were")
  func same() {
    let fit = kept("id#1 name#2").fit(now("*id#1 name#2"))
    #expect(fit.isExact && fit.fillings.map(\.place) == [0, 1])
  }

  @Test("A table that was made anew takes values by what their columns were called last")
  func lastNames() {
    let names: [String?] = ["id", "b", "a", nil]
    let columns = zip(["id", "a", "b", "c"], names).map {
      KeptShape.Column(name: $0, identity: nil, type: "text", lastName: $1)
    }
    let shape = KeptShape(table: "song", identity: 1, columns: columns)
    #expect(
      fillings(shape, now("*id#1 a#2 b#3 c#4", identity: 2)) == ["id<-id", "b<-a", "a<-b"])
  }

  @Test("Within one table the identity of a column decides, whatever the columns are called")
  func identities() {
    let shape = kept("id#1 a#2 b#3")
    #expect(fillings(shape, now("*id#1 b#2 a#3")) == ["id<-id", "b<-a", "a<-b"])
    #expect(fillings(shape, now("b#3 *id#1 renamed#2")) == ["id<-id", "renamed<-a", "b<-b"])
  }

  @Test("A column that was dropped, and one of its name that was added, are two")
  func dropped() {
    let fit = kept("id#1 stars#2").fit(now("*id#1 stars#3"))
    #expect(fit.fillings.map(\.column.name) == ["id"])
    #expect(fit.remarks == ["song has no column any more for \"stars\""])
  }

  @Test("A new column gets its default; where it has none and needs a value, no row comes back")
  func added() {
    let shape = kept("id#1")
    #expect(shape.fit(now("*id#1 more#2")).isExact)
    #expect(shape.fit(now("*id#1 !more#2")).refusal == "\"more\" of song needs a value")
  }

  @Test("The model says what a column was called, where nothing else does")
  func was() {
    let shape = kept("id#1 stars#2")
    let added = now("*id#1 rating#3", was: ["rating": "stars"])
    #expect(fillings(shape, added) == ["id<-id", "rating<-stars"])
    let anew = now("*id rating stars", identity: 2, was: ["rating": "stars"])
    #expect(fillings(shape, anew) == ["id<-id", "rating<-stars"])
  }

  @Test("In a table that was made anew under its name, the names decide, in any order")
  func madeAnew() {
    let shape = kept("id#1 a#2 b#3")
    #expect(fillings(shape, now("b#1 a#2 *id#3", identity: 2)) == ["id<-id", "a<-a", "b<-b"])
  }

  @Test("Rows do not come into another table, unless the model says that it is the same")
  func another() {
    let shape = kept("id name")
    let other = now("*id name", table: "track", identity: 2)
    #expect(shape.fit(other).refusal != nil && shape.fit(other).fillings.isEmpty)
    let same = now("*id name", table: "track", identity: 2, tableWas: "song")
    #expect(fillings(shape, same) == ["id<-id", "name<-name"])
    #expect(fillings(shape, now("*id#1 name#2", table: "track", identity: 2)) == [])
    #expect(kept("id#1").fit(now("*id#1", table: "track")).isExact)
  }

  @Test("A value of another type has to be converted, and what is generated is not written")
  func types() {
    let fit = fillings(kept("id#1 a#2:int sum#3"), now("*id#1 a#2:text =sum#3"))
    #expect(fit == ["id<-id", "a<-a from int"])
  }

  @Test("A row without its key does not come back")
  func key() {
    let fit = kept("id#1 name#2").fit(now("*code#3 name#2"))
    #expect(fit.refusal == "the key of song has no value for \"code\"")
  }

  @Test("A column of which it is not known which it is takes no value, though it has the same name")
  func unknown() {
    let fit = kept("id#1 a b#3").fit(now("*id#1 a#2 b#3"))
    #expect(fit.fillings.map(\.column.name) == ["id", "b"] && fit.remarks.count == 1)
  }
}
