import CascadeModel
import Testing

/// What the files of the tests say, and what is wrong with them, one problem a line.
func readModel(_ text: String) throws -> StoreModel {
  try StoreModel(json5: Array(text.utf8))
}

func problems(in text: String) -> [String] {
  do {
    _ = try readModel(text)
    return []
  } catch {
    return (error as? ModelErrors)?.problems.map(\.description) ?? ["\(error)"]
  }
}

@Suite struct StoreModelTests {
  /// A model that uses every part of the format.
  static let example = """
    {
      store: "/srv/music/library.db",
      spool: "/var/spool/cascaded/music",          // default: STORE.cascade/ beside the store
      collections: {
        artists: { table: "artist", key: "id" },
        albums:  { table: "album",  key: "id" },
        songs:   { table: "song",   key: "id" },
        tags:    { table: "song_tag", key: ["song_id", "tag"] },   // composite key
        notes:   {},                                               // managed
        posts:   { types: { photo: "photoPosts", text: "textPosts" } },  // managed, by its type
      },
      relationships: [
        { name: "album", from: "songs", to: "albums", column: "album_id",
          rules: ["deleteSourceIfDestinationDeleted", "deleteDestinationIfAllSourcesDeleted"] },
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          optional: false, inverse: { name: "albums", deleteRule: "cascade" } },
        { name: "featuring", from: "songs", to: "artists",
          join: { table: "song_artist", source: "song_id", destination: "artist_id" },
          toMany: true },
        { name: "subject", from: "notes", column: "about", typeColumn: "about_type",
          to: { Album: "albums", Song: "songs" } },                 // polymorphic
        { name: "images", from: "notes", to: "images", property: "imageIds", toMany: true,
          max: 12 },
        { name: "cover", from: "albums", to: { files: "media" }, column: "cover_path",
          rules: ["deleteDestinationIfAllSourcesDeleted"] },
      ],
      files: { media: "/srv/music/media" },                         // roots for file destinations
      roots: ["artists"],                                           // for the unreachable sweep
      sweeps: { cascade: "immediate", refcount: "@every 1m", dangling: "17 3 * * *" },
      limits: { lock: "10ms", hold: { deletes: 1000, share: 0.10 } },
      trash: "1d",
    }
    """

  private let model: StoreModel

  init() throws { model = try readModel(Self.example) }

  @Test func `what parts were called before is said by their names now`() throws {
    let model = try readModel(
      """
      { collections: { memos: { was: "notes" }, tracks: { table: "track", key: "id",
          was: { name: "songs", table: "song", columns: { title: "name" } } } },
        relationships: [{ name: "about", was: "subject", from: "memos", to: "tracks" }] }
      """)
    #expect(model.formerNames.collections == ["memos": "notes", "tracks": "songs"])
    #expect(model.formerNames.tables == ["tracks": "song"])
    #expect(model.formerNames.columns == ["tracks": ["title": "name"]])
    #expect(model.relationships[0].was == "subject")
  }

  @Test func `the example's collections are tables, objects, and objects by type`() {
    #expect(model.store == "/srv/music/library.db")
    #expect(model.spool == "/var/spool/cascaded/music")
    #expect(model.collections.count == 6)
    #expect(
      model.collections["tags"]
        == .mapped(table: "song_tag", key: ["song_id", "tag"], replace: .watch))
    #expect(model.collections["notes"] == .managed(types: [:]))
    #expect(
      model.collections["posts"]
        == .managed(types: ["photo": "photoPosts", "text": "textPosts"]))
  }

  @Test func `the example's edges live in six kinds of places`() {
    #expect(
      model.relationships.map(\.edgeStorage) == [
        .column(["album_id"]), .column(["artist_id"]),
        .join(table: "song_artist", source: ["song_id"], destination: ["artist_id"]),
        .polymorphic(column: ["about"], typeColumn: "about_type"), .property("imageIds"),
        .column(["cover_path"]),
      ])
    #expect(
      model.relationships.map(\.to) == [
        .collection("albums"), .collection("artists"), .collection("artists"),
        .types(["Album": "albums", "Song": "songs"]), .collection("images"),
        .files(root: "media"),
      ])
  }

  @Test func `the example's relationships keep their bounds and fold their rules`() {
    #expect(model.relationships.map(\.rules.rawValue) == [4 | 32, 4, 0, 0, 0, 32])
    #expect(model.relationships.map(\.optional) == [true, false, true, true, true, true])
    #expect(model.relationships.map(\.toMany) == [false, false, true, false, true, false])
    #expect(model.relationships.map(\.max) == [nil, nil, nil, nil, 12, nil])
    #expect(model.relationships[1].inverse?.name == "albums")
    #expect(model.relationships[1].inverse?.toMany == true)
  }

  @Test func `the example's settings are read`() throws {
    #expect(model.files == ["media": "/srv/music/media"])
    #expect(model.roots == ["artists"])
    #expect(
      model.sweeps == [
        .cascade: .immediate, .refcount: .every(.seconds(60)),
        .dangling: try Schedule(text: "17 3 * * *"),
      ])
    #expect(model.limits == StoreModel.empty.limits)
    #expect(model.trash == .seconds(86_400))
    #expect(model.strict == nil)
  }

  @Test func `an empty object is the model of a store without a file`() throws {
    #expect(try readModel("{}") == .empty)
  }

  @Test func `without sweeps, cascade and refcount are immediate and most others daily`() throws {
    let daily = try Schedule(text: "@daily")
    let schedules = SweepKind.allCases.map { ($0, StoreModel.empty.schedule(of: $0)) }
    #expect(schedules.filter { $0.1 == .immediate }.map(\.0) == [.cascade, .refcount])
    #expect(
      schedules.filter { $0.1 == daily }.map(\.0) == [.dangling, .unreachable, .files, .trash])
    #expect(schedules.filter { $0.1 == .never }.map(\.0) == [.unreferenced, .all, .expired])
  }

  @Test func `with sweeps, only the kinds named run by themselves`() throws {
    let model = try readModel(#"{ sweeps: { files: "@hourly" } }"#)
    #expect(model.schedule(of: .cascade) == .never)
    #expect(model.schedule(of: .files) == .cron(try Cron("0 * * * *")))
  }

  @Test func `a collection may be left out of the hold limit`() throws {
    let model = try readModel("{ collections: { a: { hold: false }, b: { hold: true }, c: {} } }")
    #expect(model.withoutHold == ["a"])
  }

  @Test func `limits may be loosened, tightened and lifted`() throws {
    let none = try readModel(#"{ limits: { lock: "none", hold: { share: 1 } }, trash: "0" }"#)
    #expect(none.limits.lock == nil)
    #expect(none.limits.hold.share == 1)
    #expect(none.trash == .zero)
    #expect(none.limits.hold.within == .seconds(600))
    #expect(try readModel(#"{ limits: { hold: { within: "0" } } }"#).limits.hold.within == .zero)
    let slow = try readModel(#"{ limits: { lock: "250ms", hold: { deletes: 0 } } }"#)
    #expect(slow.limits.uncontendedLock == .milliseconds(250))
    #expect(slow.limits.hold.deletes == 0)
    let quick = try readModel(#"{ limits: { alone: "20ms" } }"#)
    #expect(quick.limits.uncontendedLock == .milliseconds(20))
    #expect(StoreModel.empty.limits.standby == .seconds(5))
    #expect(try readModel(#"{ limits: { standby: "always" } }"#).limits.standby == nil)
    #expect(try readModel(#"{ limits: { standby: "0" } }"#).limits.standby == .zero)
    #expect(StoreModel.empty.limits.patience == .seconds(1))
    #expect(try readModel(#"{ limits: { patience: "0" } }"#).limits.patience == .zero)
  }

  @Test func `what is written down is kept for a month, or as long as the model says`() throws {
    #expect(StoreModel.empty.retention.ledger == .seconds(30 * 86_400))
    #expect(StoreModel.empty.retention.notices == .seconds(30 * 86_400))
    let model = try readModel(#"{ keep: { ledger: "90d" } }"#)
    #expect(model.retention.ledger == .seconds(90 * 86_400))
    #expect(model.retention.notices == .seconds(30 * 86_400))
  }

  @Test func `what is deleted is overwritten as SQLite does it, or as the model says`() throws {
    #expect(StoreModel.empty.secureDelete == nil)
    #expect(try readModel(#"{ secureDelete: "fast" }"#).secureDelete == .fast)
  }

  @Test func `a fetched property is a condition, an order and settings`() throws {
    let model = try readModel(
      """
      { collections: { people: { fetched: { fans: {
        from: "people", where: "city = $source.city AND (colour = $property.colour)",
        order: "name DESC", limit: 5, settings: { colour: "green", deep: null }, store: "/o.db",
      } } } } }
      """)
    let fans = try #require(model.fetched["people"]?["fans"])
    #expect(fans.from == "people")
    #expect(fans.settings == ["colour": .text("green"), "deep": .null])
    #expect(fans.order == "name DESC")
    #expect(fans.limit == 5)
    #expect(fans.store == "/o.db")
  }
}
