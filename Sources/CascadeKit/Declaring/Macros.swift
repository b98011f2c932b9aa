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

/// Where a relationship is made. It is the default value of a parameter, and gives an error where
/// `@Model` would not see the relationship: in an extension.
@freestanding(expression)
public macro declaredPlace() -> DeclaredPlace =
  #externalMacro(module: "CascadeMacros", type: "PlaceMacro")

/// A place where a relationship may be declared: see ``declaredPlace()``.
public struct DeclaredPlace: Sendable {
  /// Any place.
  public init() {}
}

/// What `@Model` makes of a static property whose type it cannot tell.
public enum Declarations {
  /// A relationship, a reference to files or a fetched property is declared.
  public static func of<D: Declared>(_ value: @autoclosure () -> D) -> [any Declared] { [value()] }

  /// Anything else is not, and is not even read.
  @_disfavoredOverload
  public static func of<T>(_ value: @autoclosure () -> T) -> [any Declared] { [] }
}

/// Names the column of a property, or its member in an object.
@attached(peer)
public macro Column(_ name: String) =
  #externalMacro(module: "CascadeMacros", type: "ColumnMacro")

/// Keeps a property out of the store, for example a cache. It needs a value.
@attached(peer)
public macro Unstored() = #externalMacro(module: "CascadeMacros", type: "UnstoredMacro")
