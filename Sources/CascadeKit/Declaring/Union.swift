internal import Synchronization

/// Models of one collection of objects, as one type: which case a value has is found when it is
/// read, by the type that is stored.
///
///     enum Post: Union {
///       case photo(PhotoPost), text(TextPost)
///       static let types = Types<Post>(Post.photo, Post.text)
///     }
public protocol Union: Identified {
  /// The models, and the cases that hold them.
  static var types: Types<Self> { get }
}

/// The models of a ``Union``.
public struct Types<U: Union>: Sendable {
  let collection: String
  let cases: [String: Case]

  struct Case: Sendable {
    let names: [String]
    let key: Int?
    let make: @Sendable (borrowing Row) throws(ReadError) -> U
  }

  /// Takes the cases, each of which holds a model. All models have the same collection, and each its
  /// own type.
  public init<each M: Model>(_ make: repeat @escaping @Sendable (each M) -> U) {
    var collections: Set<String> = []
    var cases: [String: Case] = [:]
    func add<N: Model>(_ make: @escaping @Sendable (N) -> U) {
      collections.insert(N.collection.name)
      guard let type = N.collection.type, cases[type] == nil else {
        preconditionFailure("\(N.self) needs a type of its own to be in \(U.self)")
      }
      cases[type] = Case(names: N.columns.columnNames, key: N.columns.key) {
        (row: borrowing Row) throws(ReadError) in make(try N(row: row))
      }
    }
    repeat add(each make)
    precondition(collections.count == 1, "the models of \(U.self) are in several collections")
    collection = collections.first!
    self.cases = cases
  }
}

/// The models of a collection whose types are not all known when a program is compiled.
/// ``Snapshot/all(in:)`` reads such a collection.
public enum TypeRegistry {
  struct Entry: Sendable {
    let names: [String]
    let key: Int?
    let make: @Sendable (borrowing Row) throws(ReadError) -> any Model
  }

  private static let entries = Mutex<[String: Entry]>([:])

  /// Says which model the objects of a type are, in the model's collection. A later call for the
  /// same type replaces an earlier one.
  public static func register<M: Model>(_ type: String, _ model: M.Type) {
    let entry = Entry(names: M.columns.columnNames, key: M.columns.key) {
      (row: borrowing Row) throws(ReadError) in try M(row: row)
    }
    entries.withLock { $0["\(M.collection.name)/\(type)"] = entry }
  }

  static func entry(_ type: String, in collection: String) -> Entry? {
    entries.withLock { $0["\(collection)/\(type)"] }
  }
}

extension Columns {
  /// The names of the columns, or of the members of an object.
  @usableFromInline var columnNames: [String] { all.map(\.column) }

  /// The place of the property that has the key.
  @usableFromInline var key: Int? { all.firstIndex { $0.column == Owner.collection.key } }
}
