import CascadeKit

// Models of the tables that the tests of CascadeKit make.

@Model("tags", table: "tag")
struct Tag {
  typealias Key = String
  let id: ID<Tag>
  var color: String
}

@Model("songs", table: "song")
struct Song {
  let id: ID<Song>
  var title: String
  var year: Int
  var album: ID<Album>
  static let album = Relationship<Album>(\.album, "album", inverse: "songs")
}

@Model("albums", table: "album")
struct Album {
  let id: ID<Album>
  var title: String
}
extension Album { static let songs = Song.album.inverse }

/// An object in Cascade's own table.
@Model("things")
struct Thing {
  let id: ID<Thing>
  var title: String
  var year: Int
}
