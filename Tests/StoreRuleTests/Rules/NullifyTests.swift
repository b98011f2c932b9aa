import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import SQLiteTables
import Testing
import SQLiteSweeps

/// Rule 64 on the values of objects, and what is left where it is not.
@Suite("References that lose their end")
struct NullifyTests {
  private static let nullify = "rules: ['nullifySourceIfDestinationDeleted']"

  @Test("Everything around a nullified reference stays as it is written")
  func surgery() throws {
    let store = try TestStore("property: 'in.p', \(Self.nullify)")
    let value = #"{"a":  1.50 ,"in":{"x":[ 1, 2 ],"p":"B","é\u0041":"\u00e9"}, "p":"B"}"#
    try store.apply([put("B"), put("A", value)])
    try store.run("!B")
    let expected = #"{"a":1.50,"in":{"x":[ 1, 2 ],"p":null,"éA":"\u00e9"},"p":"B"}"#
    #expect(try store.value("A") == expected)
  }

  @Test("A list loses every repetition, however it is written, and keeps its order")
  func lists() throws {
    let store = try TestStore("property: 'p', toMany: true, \(Self.nullify)")
    try store.apply([put("1"), put("2"), put("3"), put("A", #"{"p":[3,1,"1",2,1,"\u0033"]}"#)])
    try store.run("!1")
    #expect(try store.value("A") == #"{"p":[3,2,"\u0033"]}"#)
    try store.run("!2 !3")
    #expect(try store.value("A") == #"{"p":[]}"#)
  }

  @Test("Keys that look alike are two keys")
  func lookalikes() throws {
    let store = try TestStore("property: 'p', toMany: true, \(Self.nullify)")
    let composed = "\u{E9}"
    let decomposed = "e\u{301}"
    try store.apply([
      put(composed), put(decomposed), put("A", "{\"p\":[\"\(composed)\",\"\(decomposed)\"]}"),
    ])
    #expect(try store.edges().count == 2)
    try store.run("!\(composed)")
    let value = try #require(try store.value("A"))
    #expect(Array(value.utf8) == Array("{\"p\":[\"\(decomposed)\"]}".utf8))
  }

  @Test("Several references of one object go at once, each as its own place says")
  func severalPlaces() throws {
    let store = try TestStore(
      "property: 'p', toMany: true, \(Self.nullify)",
      "name: 'f', column: 'q', typeColumn: 't', to: { N: 'n', M: 'm' }, \(Self.nullify)",
      "name: 'g', property: 'r'")
    try store.apply([
      put("1"), put("2"), put("m/1"), put("A", #"{"p":[1,2],"q":1,"t":"N","r":1}"#),
      put("B", #"{"p":["A"],"q":1,"t":"M","r":2}"#),
    ])
    try store.run("!1")
    #expect(try store.value("A") == #"{"p":[2],"q":null,"t":null,"r":1}"#)
    #expect(try store.value("B") == #"{"p":["A"],"q":1,"t":"M","r":2}"#)
    #expect(try store.graph() == "A=64>2 B=0g>2 B=64>A B=64f>m/1")
  }

  @Test("Whoever goes too is not touched, and a rejected transaction changes no value")
  func onlySurvivors() throws {
    let store = try TestStore(
      "property: 'p', \(Self.nullify)",
      "name: 'f', property: 'q', rules: ['denyDestinationDeletion']")
    try store.apply([put("B"), put("A", #"{"p":"B"}"#), put("C", #"{"q":"B"}"#)])
    #expect(try store.refusals("!B") == ["denied B"])
    #expect(try store.value("A") == #"{"p":"B"}"#)
    #expect(try store.gone("!B !C !A") == "A B C")
  }

  @Test("A flush nullifies, so that what is put behind it is not referred to")
  func flush() throws {
    let store = try TestStore("property: 'p', \(Self.nullify)")
    try store.apply([put("A", #"{"p":"B"}"#), put("B")])
    try store.run("!B | B")
    #expect(try store.value("A") == #"{"p":null}"#)
    #expect(try store.graph() == "")
    try store.apply([put("A", #"{"p":"B"}"#)])
    try store.run("!B B")
    #expect(try store.value("A") == #"{"p":"B"}"#)
    #expect(try store.graph() == "A=64>B")
  }

  @Test("Thousands of objects, each with a list, lose one destination in one transaction")
  func many() throws {
    let store = try TestStore("property: 'p', toMany: true, \(Self.nullify)")
    try store.apply([put("B"), put("C")] + (0..<2_500).map { put("m/\($0)", nil) })
    try store.apply((0..<2_500).map { put("A\($0)", #"{"p":["B","C"]}"#) })
    try store.run("!B")
    let values = try store.reader.nodes(in: "n", after: .text("A"), limit: 3_000).filter {
      $0.node != node("C")
    }
    #expect(values.count == 2_500)
    #expect(values.allSatisfy { $0.value?.text == #"{"p":["C"]}"# })
    #expect(try store.reader.count(EdgeQuery(name: "e")) == 2_500)
  }

  @Test("A sweep nullifies what lost its end behind Cascade's back")
  func sweep() throws {
    let store = try TestStore("property: 'p', \(Self.nullify)")
    try store.apply([put("B"), put("A", #"{"p":"B"}"#)])
    try store.bySQL("DELETE FROM cascade_node WHERE key = 'B'")
    _ = try store.writer.sweep([.dangling], at: 1)
    #expect(try store.value("A") == #"{"p":null}"#)
    #expect(try store.graph() == "")
  }

  // MARK: - Dangling

  @Test("Without rule 64 a reference dangles, until its end is there again, or it is put again")
  func dangling() throws {
    let store = try TestStore("property: 'p', rules: ['notifyIfDestinationDeleted']")
    let value = #"{"p":"B"}"#
    try store.apply([put("B"), put("A", value)])
    #expect(try store.run("!B").notices == 1)
    #expect(try store.value("A") == value)
    #expect(try store.run("B").notices == 0)
    #expect(try store.graph() == "A=2>B")
    #expect(try store.apply([put("A", value)]).edgesAdded == 0)
    #expect(try store.graph() == "A=2>B")
    try store.run("!B")
    #expect(try store.apply([put("A", value)]).notices == 1)
    #expect(try store.graph() == "")
  }

  @Test("A patch of something else does not find a dangling reference again")
  func patchOfOther() throws {
    let store = try TestStore(
      "property: 'p.q', toMany: true, rules: ['notifyIfDestinationDeleted']",
      "property: 'r', toMany: true, rules: ['notifyIfDestinationDeleted']")
    try store.apply([put("B"), put("C"), put("A", #"{"p":{"q":["B","C"]}}"#)])
    try store.run("!B")
    for members in [#"{"x":1}"#, #"{"q":1}"#, #"{"r":"C"}"#, #"{"r":null}"#] {
      #expect(try store.apply([patch("A", members)]).notices == 0)
      #expect(try store.graph() == "A=2>C", "\(members)")
    }
    let receipt = try store.apply([patch("A", #"{"p":{"q":["B","C"]}}"#)])
    #expect(receipt.notices == 1)
    #expect(try store.graph() == "A=2>C")
  }

  // MARK: - Demands

  @Test("Nullifying a mandatory reference refuses the transaction whole")
  func mandatory() throws {
    let store = try TestStore("property: 'p', optional: false, from: 'm', \(Self.nullify)")
    try store.apply([put("B"), put("C"), put("m/A", #"{"p":"B"}"#)])
    #expect(try store.refusals("!B") == ["missingMandatory m/A"])
    #expect(try store.value("m/A") == #"{"p":"B"}"#)
    #expect(try store.reasons(changes("!B") + [patch("m/A", #"{"p":"C"}"#)]).isEmpty)
    #expect(try store.graph() == "m/A=64>C")
  }

  @Test("Bounds count references: what nullifying leaves may be too few")
  func tooFew() throws {
    let store = try TestStore("property: 'p', toMany: true, min: 2, max: 3, \(Self.nullify)")
    try store.run("1 2 3 4")
    func codes(_ value: String) throws -> [Reason.Code] {
      try store.reasons([put("A", value)]).map(\.code)
    }
    #expect(try codes(#"{"p":[1]}"#) == [.tooFew])
    #expect(try codes(#"{"p":[1,"1"]}"#) == [.tooFew])
    #expect(try codes(#"{"p":[1,2,3,4]}"#) == [.tooMany])
    #expect(try codes(#"{"p":[1,2]}"#) == [])
    #expect(try store.refusals("!1") == ["tooFew A"])
    #expect(try store.refusals("!1 !2") == [])
    #expect(try store.value("A") == #"{"p":[]}"#)
  }

  @Test("A mandatory reference that is missing, null or dropped is refused; unique ones are")
  func validation() throws {
    let store = try TestStore("property: 'p', from: 'm', optional: false, unique: true")
    try store.run("1 2")
    func codes(_ changes: Change...) throws -> [Reason.Code] {
      try store.reasons(changes).map(\.code)
    }
    #expect(try codes(put("m/A")) == [.missingMandatory])
    #expect(try codes(put("m/A", #"{"p":null}"#)) == [.missingMandatory])
    #expect(try codes(put("m/A", #"{"p":3}"#)) == [.missingMandatory])
    #expect(try codes(put("m/A", #"{"p":1}"#)) == [])
    #expect(try codes(put("m/B", #"{"p":1}"#)) == [.notUnique])
    #expect(try codes(put("m/B", #"{"p":2}"#)) == [])
    #expect(try codes(patch("m/B", #"{"p":1}"#)) == [.notUnique])
    #expect(try codes(patch("m/B", "{}", unset: ["p"])) == [.missingMandatory])
    #expect(try codes(patch("m/B", #"{"p":1}"#), patch("m/A", #"{"p":2}"#)) == [])
  }

  // MARK: - Patches

  @Test("A patch of a property makes its edges what the property says now")
  func patches() throws {
    let store = try TestStore(
      "property: 'p', toMany: true, rules: ['deleteDestinationIfAllSourcesDeleted']")
    try store.apply([put("1"), put("2"), put("3"), put("A", #"{"p":[1,2]}"#)])
    #expect(try store.apply([patch("A", #"{"p":[2,3]}"#)]).deleted.letters == "1")
    #expect(try store.graph() == "A=32>2 A=32>3")
    #expect(try store.apply([patch("A", "{}", unset: ["p"])]).deleted.letters == "2 3")
    #expect(try store.messages(patch("A", #"{"p":{}}"#)).count == 1)
  }

  @Test("A patch of the type alone leads a polymorphic reference elsewhere")
  func patchOfType() throws {
    let store = try TestStore("column: 'p', typeColumn: 't', to: { N: 'n', M: 'm' }")
    try store.apply([put("1"), put("m/1"), put("A", #"{"p":1,"t":"N"}"#)])
    try store.apply([patch("A", #"{"t":"M"}"#)])
    #expect(try store.graph() == "A=0>m/1")
    try store.apply([patch("A", #"{"p":null}"#)])
    #expect(try store.graph() == "")
  }

  @Test("A patch knows the type of its object")
  func patchOfTyped() throws {
    let store = try TestStore("name: 'of', from: 'photos', property: 'p'")
    try store.apply([put("B"), put("posts/1", type: "photo"), put("posts/2", type: "text")])
    try store.apply([patch("posts/1", #"{"p":"B"}"#), patch("posts/2", #"{"p":"B"}"#)])
    #expect(try store.graph() == "posts/1=0of>B")
  }
}
