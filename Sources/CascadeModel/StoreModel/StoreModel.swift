/// The content of a store's model file. An existing model is valid; afterwards only its
/// paths and its limits may be changed.
package struct StoreModel: Hashable, Sendable {
  package var store: String?
  /// A pattern of paths: the model is one for each database that matches.
  package internal(set) var stores: String?
  package var spool: String?
  /// Whether the application locks the database for itself while it runs, or changes its journal
  /// mode. Then the store is opened only while no other process has it open.
  package internal(set) var exclusive = false
  /// Nil: all users that may connect to the socket.
  package internal(set) var access: StoreAccess?
  /// Whether only listed collections may be named; nil where the model does not say.
  package internal(set) var strict: Bool?
  package internal(set) var collections: [String: Collection] = [:]
  /// The names of types, and the collections that they belong to.
  package internal(set) var typeNames: [String: String] = [:]
  package internal(set) var formerNames = FormerNames()
  /// Collections whose rows may be deleted although they could never come back.
  package internal(set) var irrevocable: Set<String> = []
  /// Collections whose unreferenced nodes may be deleted without approval.
  package internal(set) var freelyUnreferenced: Set<String> = []
  /// Collections whose nodes do not count for the hold limit.
  package internal(set) var withoutHold: Set<String> = []
  /// Whether rows are kept that applications delete, of all collections or of some.
  package internal(set) var keepsAllDeleted = false
  package internal(set) var keptDeleted: [String: Bool] = [:]
  /// By collection.
  package internal(set) var expiries: [String: Expiry] = [:]
  /// By collection.
  package internal(set) var softDeletions: [String: SoftDeletion] = [:]
  /// By collection, then by name.
  package internal(set) var fetched: [String: [String: FetchedProperty]] = [:]
  /// In the order of the file.
  package internal(set) var relationships: [Relationship] = []
  /// The names of file roots, and their absolute paths.
  package internal(set) var files: [String: String] = [:]
  /// The collections that the unreachable sweep starts from.
  package internal(set) var roots: [String] = []
  /// As written; `schedule(of:)` applies the defaults.
  package internal(set) var sweeps: [SweepKind: Schedule]?
  /// The text of each schedule.
  var sweepTexts: [SweepKind: String] = [:]
  package var limits = Limits()
  /// How long deleted nodes are kept; zero keeps nothing.
  package internal(set) var trash = Duration.seconds(86_400)
  package internal(set) var retention = Retention()
  /// An absolute path: where a batch is written before the trash forgets it.
  package internal(set) var archive: String?
  /// The setting of our connection; nil is SQLite's default.
  package internal(set) var secureDelete: SecureDelete?
  /// The file that the model was read from.
  package private(set) var source = ModelSource([:])

  /// The model of a store without a model file.
  package static let empty = StoreModel()

  package init(json5 bytes: [UInt8]) throws(ModelErrors) {
    let problems = Problems()
    self = .empty
    do {
      let file = try JSON.parse(bytes, as: .json5)
      self = ModelReader(ModelValue(json: file, path: "", problems: problems)).read()
      source = ModelSource(file)
    } catch {
      let message = "line \(error.line), column \(error.column): \(error.message)"
      throw ModelErrors(problems: [ModelProblem(path: "", message: message)])
    }
    guard problems.list.isEmpty else { throw ModelErrors(problems: problems.list) }
  }

  init() {}

  package enum Collection: Hashable, Sendable {
    /// A table of the application; one row is one node.
    case mapped(table: String, key: [String], replace: Replacement)
    /// Objects in Cascade's own table. A type's name stands for the objects of that type, wherever
    /// the model names a collection.
    case managed(types: [String: String])
  }

  /// Whether the daemon looks for rows that `INSERT OR REPLACE` displaced.
  package enum Replacement: String, Hashable, Sendable, CaseIterable {
    case watch, ignore
  }

  /// Whether deleted content is erased from the file. The words are SQLite's
  /// (https://sqlite.org/pragma.html#pragma_secure_delete).
  package enum SecureDelete: String, Hashable, Sendable, CaseIterable {
    case on, fast, off
  }

  /// How long Cascade's own records are kept. A sweep of the trash removes older ones.
  package struct Retention: Hashable, Sendable {
    /// A change file that is submitted again after its entry was removed is applied again.
    package internal(set) var ledger = Duration.seconds(30 * 86_400)
    package internal(set) var notices = Duration.seconds(30 * 86_400)
    /// What went, by its number, whatever becomes of the trash.
    package internal(set) var deleted = Duration.seconds(30 * 86_400)
  }

  /// How long a sweep holds the write lock, and how much it deletes without approval.
  package struct Limits: Hashable, Sendable {
    /// The longest time that the write lock is held; nil is one transaction, however long.
    package var lock: Duration? = .milliseconds(10)
    /// The same, while no other connection writes.
    package var uncontendedLock: Duration = .milliseconds(100)
    /// The longest time that a sweep waits for the transactions of other processes; zero is not at
    /// all.
    package var patience: Duration = .seconds(1)
    /// How long a standby that was there is waited for before something is done that cannot be taken
    /// back; nil is until it is there again.
    package var standby: Duration? = .seconds(5)
    package var hold = Hold()
  }

  /// A deletion that exceeds both limits waits for approval.
  package struct Hold: Hashable, Sendable {
    package var deletes = 1000
    package var share = 0.10
    /// What sweeps deleted in this time without an approval counts with a sweep; zero is nothing.
    package var within = Duration.seconds(600)

    /// Whether anything is ever held: no more can go than all of a collection.
    package var isReachable: Bool { share < 1 }
  }
}
