public import CascadeKit

@Model("artists", table: "artist")
public struct Artist: Equatable {
  public let id: ID<Artist>
  public var name: String

  public init(id: ID<Artist>, name: String) {
    self.id = id
    self.name = name
  }
}

@Model("albums", table: "album")
public struct Album: Equatable {
  public let id: ID<Album>
  public var title: String
  public var artist: ID<Artist>?

  /// An album goes with its artist.
  public static let artist = Relationship<Artist?>(
    \.artist, "artist", rules: .deleteSourceIfDestinationDeleted, inverse: "albums")

  public init(id: ID<Album>, title: String, artist: ID<Artist>?) {
    self.id = id
    self.title = title
    self.artist = artist
  }
}

extension Artist {
  public static let albums = Album.artist.inverse
}

public let model = ModelFile {
  Artist.self
  Album.self
}
