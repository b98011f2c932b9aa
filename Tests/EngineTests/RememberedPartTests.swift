import CascadeEngine
import Testing

/// Which part of a model is which of those that are remembered: a decision of both engines, without a
/// database.
///
/// A part is written `name@place:names`; a place that is `gone` has no table any more; `was` is behind `<`.
@Suite("Parts of a model, and what is remembered")
struct RememberedPartTests {
  private func parts(_ text: String, _ context: [String] = []) -> [RememberedPart] {
    text.split(separator: " ").map { text in
      let sides = text.split(separator: "<")
      let named = sides[0].split(separator: ":")
      let placed = named[0].split(separator: "@").map(String.init)
      let place = placed.count > 1 && placed[1] != "gone" ? placed[1] : nil
      return RememberedPart(
        name: placed[0], context: context, place: place,
        placeNames: named.count > 1 ? String(named[1]) : nil,
        was: sides.count > 1 ? String(sides[1]) : nil, isPlaceGone: placed.last == "gone")
    }
  }

  private func pairs(_ wanted: String, _ known: String, _ context: [String] = []) -> [Int?] {
    RememberedPart.pairs(of: parts(wanted, context), with: parts(known, context))
  }

  @Test("It is the same where its place is, whatever it is called")
  func place() {
    #expect(pairs("tracks@1:song", "songs@1:song") == [0])
    #expect(pairs("tracks@1:track", "songs@1:song") == [0])
    #expect(pairs("b@1:song a@2:album", "a@1:song b@2:album") == [0, 1])
  }

  @Test("Where the table was made anew, names decide")
  func names() {
    #expect(pairs("tracks@5:song", "songs@gone:song") == [0])
    #expect(pairs("a@2:song b@1:album", "a@gone:song b@gone:album") == [0, 1])
    #expect(pairs("tracks@5:song", "songs@1:song") == [nil])
  }

  @Test("Else the name is the name")
  func sameName() {
    #expect(pairs("songs@5:track", "songs@1:song") == [0])
    #expect(pairs("album@5:b", "album@1:a", ["songs", "albums"]) == [nil])
    #expect(pairs("album@5:a", "album@1:a", ["songs", "albums"]) == [0])
  }

  @Test("The model says what nothing else tells, and what else has the name is not meant")
  func was() {
    #expect(pairs("memos<notes", "notes") == [0])
    #expect(pairs("memos<notes notes", "notes") == [nil, 0])
    #expect(pairs("memos notes", "notes") == [nil, 0])
  }

  @Test("What may be one of several is none of them")
  func several() {
    #expect(pairs("c@1:x", "a@1:x b@1:x") == [nil])
    #expect(pairs("c@1:x d@1:x", "a@1:x") == [nil, nil])
    #expect(pairs("a@1:x d@1:x", "a@1:x") == [0, nil])
  }

  @Test("Ends are not exchanged")
  func context() {
    let known = parts("album@1:a", ["songs", "albums"])
    #expect(RememberedPart.pairs(of: parts("album@1:a", ["songs", "discs"]), with: known) == [nil])
  }
}
