/// Makes a structure a ``Model``: its stored properties are columns of a table, or members of an
/// object.
///
///     @Model("albums", table: "album") struct Album {
///       let id: ID<Album>
///       var title: String
///       var artist: ID<Artist>?
///       static let artist = Relationship<Artist?>(\.artist, "artist", inverse: "albums")
///     }
///
/// - Parameters:
///   - collection: The name of the collection.
///   - table: The table of the application; without it, the values are objects in Cascade's own.
///   - key: The key column of the table.
///   - type: The type of the objects, if the collection has several.
@attached(
  extension, conformances: Identified, Model,
  names: named(collection), named(columns), named(relationships), named(init(row:)),
  named(write(to:)))
public macro Model(
  _ collection: String, table: String? = nil, key: String = "id", type: String? = nil
) = #externalMacro(module: "CascadeMacros", type: "ModelMacro")

/// Names the column of a property, or its member in an object.
@attached(peer)
public macro Column(_ name: String) =
  #externalMacro(module: "CascadeMacros", type: "ColumnMacro")

/// Keeps a property out of the store, for example a cache. It needs a value.
@attached(peer)
public macro Unstored() = #externalMacro(module: "CascadeMacros", type: "UnstoredMacro")
