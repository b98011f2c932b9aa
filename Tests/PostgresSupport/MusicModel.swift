/// A model for artists, albums, songs and photos in tables of these names.
package enum MusicModel {
  package static func text(_ more: String = "") -> String {
    """
    { collections: {
        artists: { table: "artist", key: "id" }, albums: { table: "album", key: "id" },
        songs: { table: "song", key: "id" }, photos: { table: "photo", key: "id" } },
      relationships: [
        { name: "artist", from: "albums", to: "artists", column: "artist_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "album", from: "songs", to: "albums", column: "album_id",
          rules: ["deleteSourceIfDestinationDeleted"] },
        { name: "photo", from: "albums", to: "photos", column: "photo_id",
          rules: ["deleteDestinationIfAllSourcesDeleted"] }],
      \(more) }
    """
  }
}
