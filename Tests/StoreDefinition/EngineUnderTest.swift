package import CascadeModel
package import CascadeStore

/// An engine, as its tests see it. The tests in this target are the definition: every engine passes
/// them.
package protocol EngineUnderTest: Sendable {
  /// Makes a store in a database that has the application's tables.
  func makeStore(model: StoreModel, schema: String) throws -> any StoreUnderTest

  /// What random tables are made of.
  var tables: any TableSQL { get }

  /// The type of a column of bytes.
  var typeOfBytes: String { get }

  /// What makes an integer key one that the database gives.
  var generatedKey: String { get }

  /// SQL with which a connection begins that has foreign keys enforced.
  var enforcingForeignKeys: String { get }

  /// SQL that makes a table `counted(name)`, to which each UPDATE that sets one of these columns adds its
  /// name.
  func counting(updatesOf columns: [String], of table: String) -> String
}

/// A store that is deleted with its test.
package protocol StoreUnderTest: AnyObject {
  associatedtype Writing: StoreWriting
  associatedtype Reading: StoreReading

  /// Where the database is, as the daemon knows it.
  var place: String { get }
  var writer: Writing { get }
  var reader: Reading { get }
  /// How many transactions were applied.
  var count: Int64 { get set }

  /// Opens the store again, as the next daemon does.
  func reopen() throws

  /// Opens the store with another model, for writing and reading, as a reload does.
  func reopen(with model: StoreModel) throws

  /// Copies the database. Returns false where the test of an engine cannot.
  func backUp() throws -> Bool

  /// Puts the copy in the place of the database while there is no daemon, and opens it.
  func restoreBackup() throws

  /// Releases memory, as the daemon does when nothing was used for a while.
  func rest() throws

  // MARK: - The application

  /// Runs statements as the application.
  func bySQL(_ sql: String) throws

  /// Notices that tables have changed, as the daemon does after each commit.
  func followSchema() throws

  /// Gives the daemon its rights on a table that was made anew.
  func allowDaemon(on table: String) throws

  /// The bytes of a column in hexadecimal digits, as SQL.
  func hex(_ column: String) -> String

  /// Whether this is how a trigger refuses to an application what a rule denies.
  func isDenial(_ error: any Error) -> Bool

  /// Reads the first column of a query as the application.
  func texts(_ sql: String) throws -> [String]

  /// Takes a lease as the application. The key is an SQL expression.
  func lease(
    _ key: String, in collection: String, until end: some CustomStringConvertible) throws

  /// Whether a reference to nothing that may stay so is listed as an edge.
  var listsEdgesToNothing: Bool { get }

  /// Has all leases end at once.
  func endLeases() throws

  // MARK: - How much is done at a time

  /// From now on, sweeps and undos have steps of so many rows, however little there is to do.
  func sweepsInSteps(of rows: Int64)

  /// The same, during `body`.
  func withSteps<T>(of rows: Int64, _ body: () throws -> T) throws -> T

  /// Sets how many nodes an engine works on before it treats them as many.
  func setManyNodes(_ count: Int)

  // MARK: - What is stored

  /// Every row of the application's tables, and the nodes and edges that Cascade stores, bit for
  /// bit.
  func dump() throws -> [String]

  /// The batch of a sweep that was not finished.
  var unfinishedBatch: Int64? { get throws }

  func lastNotice() throws -> Int64

  /// Whether the trash has the row of a node, and not only its name.
  func isRowInTrash(_ node: Node) throws -> Bool
}

extension StoreUnderTest {
  package func backUp() throws -> Bool { false }

  package func restoreBackup() throws {}

  package var listsEdgesToNothing: Bool { false }

  @discardableResult
  package func apply(_ changes: [Change], id: String? = nil) throws -> Receipt {
    count += 1
    let submission = Submission(
      id: id ?? "test-\(count)", author: "test", fingerprint: count, at: count)
    var rest = changes[...]
    return try writer.group { try writer.apply(submission) { rest.popFirst() } }
  }

  /// Applies changes under a model of its own.
  @discardableResult
  package func apply(_ changes: [Change], by writer: any StoreWriting) throws -> Receipt {
    let number = Int64.random(in: 1_000 ... .max)
    let submission = Submission(id: "\(number)", author: "test", fingerprint: number, at: 9)
    var rest = changes[...]
    return try writer.group { try writer.apply(submission) { rest.popFirst() } }
  }

  package func reasons(_ changes: some Sequence<Change>) throws -> [Reason] {
    let changes = Array(changes)
    do {
      try apply(changes)
      return []
    } catch let rejection as Rejection {
      return rejection.reasons
    }
  }

  package func exists(_ node: Node) throws -> Bool { try reader.node(node).exists }

  package func edges() throws -> [Edge] { try reader.edges(EdgeQuery()).edges }
}
