import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

/// Reference counts: rules 32 and, mirrored, 16.
@Suite("YapDatabase's behaviour: reference counts")
struct YapDatabaseCountTests {
  let store: TestStore

  init() throws { store = try TestStore() }

  @Test("A destination goes with the last of its sources, and not before")
  func lastSource() throws {
    try store.run("A B C N A-32>N B-32>N C-32>N")
    #expect(try store.gone("!A") == "A")
    #expect(try store.graph() == "B-32>N C-32>N")
    #expect(try store.gone("!B") == "B")
    #expect(try store.gone("!C") == "C N")
  }

  @Test("All sources going at once are the last ones")
  func allAtOnce() throws {
    try store.run("A B N A-32>N B-32>N")
    #expect(try store.gone("!A !B") == "A B N")
  }

  @Test("Mirrored, a source goes with the last of its destinations")
  func lastDestination() throws {
    try store.run("L A B L-16>A L-16>B")
    #expect(try store.gone("!A") == "A")
    #expect(try store.gone("!B") == "B L")
  }

  @Test("An edge of another name does not count", arguments: ["32 !A", "16 !N"])
  func otherName(test: String) throws {
    let (rule, deletion) = (test.prefix(2), test.dropFirst(3))
    try store.run("A B N M A-\(rule)>N B-\(rule)x>N A-\(rule)y>M")
    #expect(try store.gone("\(deletion)").contains(rule == "32" ? "N" : "A"))
  }

  @Test(
    "A remaining edge counts whatever its rules and its origin", arguments: ["B-0>N", "B{8>N}"])
  func anyEdgeCounts(holder: String) throws {
    try store.run("A B N A-32>N \(holder)")
    #expect(try store.gone("!A") == "A")
    #expect(try store.alive() == "B N")
  }

  @Test("The rules of the edge that is lost decide, not those of one lost before")
  func rulesOfTheLostEdge() throws {
    try store.run("A B N A-32>N B-0>N")
    #expect(try store.gone("!A") == "A")
    #expect(try store.gone("!B") == "B")
    #expect(try store.alive() == "N")
  }

  @Test("Handed over within one transaction, nothing goes")
  func handedOver() throws {
    try store.run("A N A-32>N")
    #expect(try store.gone("!A B B-32>N") == "A")
    #expect(try store.gone("C{32>N} !B") == "B")
    #expect(try store.gone("C{} D{32>N}") == "")
    #expect(try store.gone("~D->N E E-32>N D{}") == "")
    #expect(try store.alive() == "C D E N")
  }

  @Test("Handed over after a flush is too late")
  func handedOverTooLate() throws {
    try store.run("A N A-32>N")
    #expect(try store.gone("!A | B B-32>N") == "A N")
    #expect(try store.alive() == "B")
    #expect(try store.graph() == "")
  }

  @Test("A holder that goes too holds nothing")
  func holderGoes() throws {
    try store.run("R A B N R-8>A A-8>B A-32>N B-32>N")
    #expect(try store.gone("!R") == "A B N R")
  }

  @Test("A cycle of counted edges holds itself")
  func cycleHoldsItself() throws {
    try store.run("A B C A-32>B B-32>C C-32>B")
    #expect(try store.gone("!A") == "A")
    #expect(try store.alive() == "B C")
  }

  @Test("Counts go on through chains")
  func chain() throws {
    try store.run("A B C D A-32>B B-32>C C-32>D X X-32>D")
    #expect(try store.gone("!A") == "A B C")
    #expect(try store.gone("!X") == "D X")
  }

  @Test("A song's album goes with its last song, and the songs with their album")
  func songsAndAlbum() throws {
    try store.run("s/1{36album>a/1} s/2{36album>a/1} a/1")
    #expect(try store.gone("!s/1") == "s/1")
    #expect(try store.gone("!s/2") == "a/1 s/2")
    try store.run("s/1{36album>a/1} s/2{36album>a/1} a/1")
    #expect(try store.gone("!a/1") == "a/1 s/1 s/2")
  }

  @Test("A declared and a manual edge alike are two holders")
  func twins() throws {
    try store.run("A{32>N} N A-32>N")
    #expect(try store.gone("A{}") == "")
    #expect(try store.gone("~A->N") == "N")
  }

  @Test("What is held by nobody from the start stays until an edge is lost")
  func neverHeld() throws {
    try store.run("N")
    #expect(try store.gone("A") == "")
    #expect(try store.alive() == "A N")
  }
}
