import CascadeModel
import Spool
import CascadeStore
import SQLiteStore
import CascadeSystem

/// A spool and a store in a directory of their own, gone with the test.
final class TestSpool {
  let path: String
  let root: Directory
  let new: Directory
  let spool: SpoolDirectory
  let clock = Ticks()
  private(set) var inbox: Inbox?
  private(set) var reader: any StoreReading

  /// The engine of all spools here.
  static let engine: any StoreEngine = SQLiteEngine()

  init(model: StoreModel = TestSpool.lenient) throws {
    let name = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    let isFast = try FileStatus.of("/dev/shm")?.kind == .directory
    path = "\(isFast ? "/dev/shm" : "/tmp")/cascade-test-\(name)"
    root = try Directory.openOrMake(path)
    let inbox = try TestSpool.open(path, model, clock)
    self.inbox = inbox
    reader = try TestSpool.engine.openForReading(
      "\(path)/store.db", model: model, lockTimeout: .seconds(5))
    new = try Directory.open("\(path)/spool/new")
    spool = try TestSpool.directory(path)
  }

  deinit {
    inbox = nil
    try? root.removeContents()
    _ = try? Directory.open("/").removeDirectory(FileName(String(path.dropFirst())))
  }

  /// Without the hold limit.
  static var lenient: StoreModel {
    var model = StoreModel.empty
    model.limits.hold.deletes = .max
    return model
  }

  static func open(_ path: String, _ model: StoreModel, _ clock: Ticks) throws -> Inbox {
    let spool = try directory(path)
    let lock = try spool.lock()
    let writer = try engine.openForWriting(
      "\(path)/store.db", model: model, creates: true, lockTimeout: .zero)
    return try Inbox(spool, lock, writer: writer, now: { clock.tick() })
  }

  static func directory(_ path: String) throws -> SpoolDirectory {
    try SpoolDirectory("\(path)/spool", SafePaths(store: "\(path)/store.db"))
  }

  /// As after a crash: what was in memory is gone.
  func restart(model: StoreModel = TestSpool.lenient, clock: Ticks? = nil) throws {
    inbox = nil
    inbox = try TestSpool.open(path, model, clock ?? self.clock)
  }
}

/// Milliseconds that pass when somebody looks; something may happen meanwhile.
final class Ticks {
  private var time: Int64
  var meanwhile: () -> Void = {}

  init(_ time: Int64 = 1_000) { self.time = time }

  func pass(_ milliseconds: Int64) { time += milliseconds }

  func tick() -> Int64 {
    time += 1
    meanwhile()
    return time
  }
}

// MARK: - Files

extension TestSpool {
  func put(_ name: FileName, _ text: String) throws {
    try new.file(name, .createNew).writeAll(Array(text.utf8))
  }

  /// A document of these changes.
  func put(_ name: FileName, id: String? = nil, changes: String...) throws {
    let head = id.map { #""id":"\#($0)","author":"tester","# } ?? ""
    try put(name, #"{\#(head)"changes":[\#(changes.joined(separator: ","))]}"#)
  }

  func directory(_ name: String) throws -> Directory { try Directory.open("\(path)/spool/\(name)") }

  func names(_ directory: String) throws -> [String] {
    try self.directory(directory).names().sorted().map(\.description)
  }

  func text(_ directory: String, _ name: FileName) throws -> String? {
    let bytes = try self.directory(directory).file(name).readWhole(limit: 1 << 20)
    return bytes.map { String(decoding: $0, as: UTF8.self) }
  }

  func reasonFile(_ name: FileName) throws -> JSON {
    try JSON.parse(text("rejected", name + ".reason.json") ?? "")
  }
}

// MARK: - Working

extension TestSpool {
  func step(budget: Duration = .seconds(60)) throws -> [Inbox.Outcome]? {
    switch try inbox!.step(budget: budget) {
    case .idle: nil
    case .worked(let outcomes): outcomes
    case .setAside: []
    }
  }

  /// Until there is nothing left: what became of each file.
  @discardableResult
  func drain(budget: Duration = .seconds(60)) throws -> [Inbox.Outcome] {
    var all: [Inbox.Outcome] = []
    while let outcomes = try step(budget: budget) { all += outcomes }
    return all
  }

  /// `name outcome` for each.
  func settle() throws -> [String] {
    try drain().map { "\($0.name) \($0.receipt.outcome)" }
  }

  func keys(_ collection: String = "n") throws -> String {
    try reader.nodes(in: collection, after: nil, limit: 10_000)
      .compactMap(\.node.key.managedText).joined(separator: " ")
  }

  func value(_ key: String) throws -> String? {
    try reader.node(Node("n", .text(key))).value?.text
  }
}

/// Changes as they are written in files.
func put(_ key: String, _ value: String = "0") -> String {
  #"{"put":["n","\#(key)"],"value":\#(value)}"#
}

func delete(_ key: String) -> String { #"{"delete":["n","\#(key)"]}"# }
