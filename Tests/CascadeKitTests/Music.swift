import CascadeKit

// The models that the tests use.

@Model("artists", table: "artist")
struct Artist: Equatable {
  let id: ID<Artist>
  var name: String
  var since: Int?
  static let recent = Fetched<Song>(
    "recent", where: "year >= $source.since AND year > $property.after", order: "year DESC",
    limit: 10, settings: ["after": .integer(1950)])
}
extension Artist { static let albums = Album.artist.inverse }

@Model("albums", table: "album")
struct Album: Equatable {
  let id: ID<Album>
  var title: String
  var artist: ID<Artist>?
  var coverPath: String?
  static let artist = Relationship<Artist?>(
    \.artist, "artist", rules: .deleteSourceIfDestinationDeleted, inverse: "albums")
  static let cover = FileReference(\Album.coverPath, "cover", root: "media")
}
extension Album { static let songs = Song.album.inverse }

@Model("songs", table: "song")
struct Song: Equatable {
  let id: ID<Song>
  var title: String
  var year: Int
  var album: ID<Album>
  @Unstored var isPlaying = false
  static let album = Relationship<Album>(
    \.album, "album",
    rules: [.deleteSourceIfDestinationDeleted, .deleteDestinationIfAllSourcesDeleted],
    inverse: "songs")
  static let tags = Relationship<[Tag]>(
    "tags", join: Join("song_tag", source: "song_id", destination: "tag_id"),
    rules: .deleteDestinationIfAllSourcesDeleted, inverse: "songs")

  enum Invalid: Error { case noTitle }
  mutating func willWrite(_ kind: WriteKind) throws {
    if title.isEmpty { throw Invalid.noTitle }
    while title.last == " " { title.removeLast() }
  }
}

@Model("tags", table: "tag")
struct Tag: Equatable {
  typealias Key = String
  let id: ID<Tag>
  var color: Color
  enum Color: String, ColumnValue { case red, green }
}
extension Tag { static let songs = Song.tags.inverse }

@Model("tours", table: "tour")
struct Tour: Equatable {
  let id: ID<Tour>
  var singer: ID<Artist>
  static let singer = Relationship<Artist>(
    \.singer, "singer", rules: .denyDestinationDeletion, inverse: "tours")
}

@Model("posts", type: "photo")
struct PhotoPost: Equatable {
  let id: ID<PhotoPost>
  var caption: String?
  var images: [ID<Image>]
  static let images = Relationship<[Image]>(
    \.images, "images", rules: .deleteDestinationIfAllSourcesDeleted, max: 12, inverse: "posts")
}

@Model("posts", type: "text")
struct TextPost: Equatable {
  let id: ID<TextPost>
  var text: String
}

enum Post: Union, Equatable {
  case photo(PhotoPost)
  case text(TextPost)
  static let types = Types<Post>(Post.photo, Post.text)
}

@Model("images")
struct Image: Equatable {
  let id: ID<Image>
  var width: Int
}
extension Image { static let posts = PhotoPost.images.inverse }

/// Its edges are in Cascade's own table.
@Model("pages")
struct Page: Equatable {
  typealias Key = Int
  let id: ID<Page>
  @Column("heading") var title: String
  @Unstored var mentions: [ID<Page>] = []
  static let refs = Relationship<[Page]>(
    "refs", rules: .deleteDestinationIfAllSourcesDeleted, inverse: "referrers")
}
extension Page { static let referrers = Page.refs.inverse }

func musicModel(media: String = "/srv/media", settings: String = "") -> ModelFile {
  ModelFile(files: ["media": media], settings: settings) {
    Artist.self
    Album.self
    Song.self
    Tag.self
    Tour.self
    PhotoPost.self
    TextPost.self
    Image.self
    Page.self
  }
}

let musicSchema = """
  PRAGMA journal_mode = WAL;
  CREATE TABLE artist(id TEXT PRIMARY KEY, name TEXT NOT NULL, since INTEGER);
  CREATE TABLE album(id TEXT PRIMARY KEY, title TEXT NOT NULL, artist TEXT, cover_path TEXT);
  CREATE INDEX album_artist ON album(artist);
  CREATE INDEX album_cover ON album(cover_path);
  CREATE TABLE song(id TEXT PRIMARY KEY, title TEXT NOT NULL, year INTEGER NOT NULL, album TEXT);
  CREATE INDEX song_album ON song(album);
  CREATE TABLE tag(id TEXT PRIMARY KEY, color TEXT NOT NULL);
  CREATE TABLE song_tag(song_id TEXT, tag_id TEXT, PRIMARY KEY(song_id, tag_id));
  CREATE INDEX song_tag_tag ON song_tag(tag_id);
  CREATE TABLE tour(id TEXT PRIMARY KEY, singer TEXT);
  CREATE INDEX tour_singer ON tour(singer);
  """
