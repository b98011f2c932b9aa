import CascadeKit
import CascadeModel
import CascadeSystem
import TestSupport
import Testing

/// Written by hand what `@Model` makes of `Album`.
struct HandwrittenAlbum: Equatable {
  let id: ID<HandwrittenAlbum>
  var title: String
  var artist: ID<Artist>?
  var coverPath: String?
  static let artist = Relationship<Artist?>(
    \.artist, "artist", rules: .deleteSourceIfDestinationDeleted, inverse: "albums")
  static let cover = FileReference(\HandwrittenAlbum.coverPath, "cover", root: "media")
}

extension HandwrittenAlbum: Model {
  static let collection = Collection("albums", table: "album")
  static let columns = Columns<HandwrittenAlbum>([
    .init("id", \HandwrittenAlbum.id), .init("title", \HandwrittenAlbum.title),
    .init("artist", \HandwrittenAlbum.artist), .init("coverPath", \HandwrittenAlbum.coverPath),
  ])
  static var relationships: [any Declared] { [HandwrittenAlbum.artist, HandwrittenAlbum.cover] }
  init(row: borrowing Row) throws(ReadError) {
    id = try row.value(0)
    title = try row.value(1)
    artist = try row.value(2)
    coverPath = try row.value(3)
  }
  func write(to row: inout RowValues) {
    row.set(0, id)
    row.set(1, title)
    row.set(2, artist)
    row.set(3, coverPath)
  }
}

/// Models, and the files that they become.
@Suite struct DeclaringTests {
  @Test func aModelIsTheFileThatOneWouldWrite() throws {
    let model = try StoreModel(json5: Array(musicModel(media: "/srv/media").text.utf8))
    let written = try StoreModel(
      json5: Array(
        """
        {
          collections: {
            artists: { table: "artist", key: "id", fetched: { recent: {
              from: "songs", where: "year >= $source.since AND year > $property.after",
              order: "year DESC", limit: 10, settings: { after: 1950 } } } },
            albums: { table: "album", key: "id" },
            songs: { table: "song", key: "id" },
            tags: { table: "tag", key: "id" },
            tours: { table: "tour", key: "id" },
            posts: { types: { photo: "photo", text: "text" } },
            images: {}, pages: {},
          },
          relationships: [
            { name: "artist", from: "albums", to: "artists", column: "artist",
              rules: ["deleteSourceIfDestinationDeleted"], inverse: { name: "albums" } },
            { name: "cover", from: "albums", to: { files: "media" }, column: "cover_path",
              rules: ["deleteDestinationIfAllSourcesDeleted"] },
            { name: "album", from: "songs", to: "albums", column: "album", optional: false,
              rules: ["deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"],
              inverse: { name: "songs" } },
            { name: "tags", from: "songs", to: "tags", toMany: true,
              join: { table: "song_tag", source: "song_id", destination: "tag_id" },
              rules: ["deleteDestinationIfAllSourcesDeleted"], inverse: { name: "songs" } },
            { name: "singer", from: "tours", to: "artists", column: "singer", optional: false,
              rules: ["denyDestinationDeletion"], inverse: { name: "tours" } },
            { name: "images", from: "photo", to: "images", property: "images", toMany: true,
              max: 12, rules: ["deleteDestinationIfAllSourcesDeleted"],
              inverse: { name: "posts" } },
            { name: "refs", from: "pages", to: "pages", toMany: true,
              rules: ["deleteDestinationIfAllSourcesDeleted"], inverse: { name: "referrers" } },
          ],
          files: { media: "/srv/media" },
        }
        """.utf8))
    #expect(model.changes(since: written) == [])
  }

  @Test func theMacroMakesWhatOneWouldWriteByHand() throws {
    let macro = ModelFile(files: ["media": "/m"]) { Album.self }
    let hand = ModelFile(files: ["media": "/m"]) { HandwrittenAlbum.self }
    #expect(macro.text == hand.text)
    #expect(Album.columns.all.map(\.column) == HandwrittenAlbum.columns.all.map(\.column))
  }

  @Test(arguments: [
    ("title", "title"), ("coverPath", "cover_path"), ("albumID", "album_id"),
    ("URLText", "url_text"),
    ("x2Y", "x2_y"), ("_id", "_id"),
  ])
  func aColumnHasTheNameOfItsPropertyInSmallLetters(name: String, column: String) {
    #expect(StoredProperty<Album>(name, \Album.title).column == column)
    #expect(StoredProperty<Image>(name, \Image.width).column == name)
  }

  @Test func theDaemonAcceptsTheModel() throws {
    let scratch = try Scratch()
    try scratch.write("model.json", musicModel(media: scratch.path("media")).text)
    try sqlite3(scratch.path("store.db"), musicSchema)
    try run(
      program("cascaded"),
      ["--check-config", "--model", scratch.path("model.json"), scratch.path("store.db")])
  }

  @Test func settingsAreMembersOfTheFile() throws {
    let model = ModelFile(roots: ["tags"], settings: "trash: '7d', // a week\n strict: true") {
      Tag.self
    }
    let read = try StoreModel(json5: Array(model.text.utf8))
    #expect(read.strict == true)
    #expect(read.roots == ["tags"])
    #expect(read.trash == .seconds(7 * 86_400))
  }
}

/// Identities.
@Suite struct IdentityTests {
  private static let count = isLong ? 1_000_000 : 100_000

  @Test func identitiesOfManyThreadsDifferAndGrow() async throws {
    let lists = await withTaskGroup(of: [UUIDv7].self) { group in
      for _ in 0..<8 { group.addTask { (0..<IdentityTests.count).map { _ in UUIDv7() } } }
      return await group.reduce(into: []) { $0.append($1) }
    }
    for list in lists { #expect(zip(list, list.dropFirst()).allSatisfy { $0 < $1 }) }
    #expect(Set(lists.joined()).count == 8 * IdentityTests.count)
  }

  @Test func identitiesGrowAlsoWhenTheClockIsSetBack() {
    let hour: UInt64 = 3_600_000 << 12
    let before = UUIDv7()
    let after = (0..<1_000).map { _ in UUIDv7(at: UUIDv7.currentStamp() - hour) }
    #expect(zip([before] + after, after).allSatisfy { $0 < $1 })
  }

  @Test func anIdentityIsAUUIDOfVersion7() throws {
    let text = UUIDv7().description
    #expect(text.count == 36)
    #expect(Array(text)[14] == "7")
    #expect("89ab".contains(Array(text)[19]))
    #expect(UUIDv7(text)?.description == text)
    #expect(UUIDv7(text.uppercased())?.description == text)
    #expect(UUIDv7("x") == nil)
    #expect(UUIDv7(String(repeating: "g", count: 36)) == nil)
  }
}
