import StoreDefinition
import StoreFixtures
import TestSupport
import Glibc
import CascadeModel
import CascadeSQLite
import CascadeEngine
import CascadeStore
import SQLiteStore
import SQLiteTables
import CascadeSystem
import SQLiteJournal
import SQLiteSweeps

/// A store with a root of files: covers that albums name in a column, and whatever stored edges
/// name.
final class FileFixture {
  let store: TestStore
  let root: Directory
  let model: String
  private let directory: Directory
  private var count: Int64 = 0

  static let schema = """
    CREATE TABLE album(id INTEGER PRIMARY KEY, cover TEXT, extra TEXT);
    CREATE INDEX album_cover ON album(cover);
    """

  init(
    _ more: String = "", model files: String = "",
    rules: String = #"["deleteDestinationIfAllSourcesDeleted"]"#,
    schema: String = FileFixture.schema, hasOwnDirectory: Bool = false
  ) throws {
    let random = try Process.randomBytes(8).map { String($0, radix: 16) }.joined()
    directory = try Directory.openOrMake("/tmp/cascade-files-\(random)")
    root = try Directory.openOrMake("\(directory.path)/media")
    _ = unsafe symlink("media", "\(directory.path)/link")
    model = """
      {
        collections: { albums: { table: "album", key: "id" }, notes: {} },
        relationships: [
          { name: "cover", from: "albums", to: { files: "media" }, column: "cover",
            rules: \(rules) },
          { name: "extra", from: "albums", to: { files: "media" }, property: "extra", toMany: true,
            rules: \(rules) },
          { name: "of", from: "notes", to: { files: "media" }, property: "file", toMany: true,
            rules: \(rules) },
        ],
        files: { media: "\(directory.path)/media"\(files.replacing("OUTSIDE", with: directory.path)) },
        \(more)
      }
      """
    let place = hasOwnDirectory ? "\(directory.path)/database" : TestStore.directory
    if hasOwnDirectory { try directory.makeDirectory("database") }
    store = try TestStore(model: StoreModel(model), schema: schema, in: place)
  }

  deinit {
    try? directory.removeContents()
    _ = try? Directory.open("/tmp").removeDirectory(FileName(String(directory.path.dropFirst(5))))
  }

  var outside: String { directory.path }
  var surroundings: StorePaths { StorePaths(store: store.path, spool: "\(outside)/spool") }

  func write(_ paths: String...) throws { try root.write(paths) }

  func text(_ path: String) -> String? { root.text(path) }

  func isThere(_ path: String) -> Bool { text(path) != nil }
  func isKept(_ path: String, _ batch: Int64) -> Bool { isThere(".cascade-trash/\(batch)/\(path)") }

  /// What is in the root and in its trash, beside the file that says whose the root is.
  var content: [String] {
    get throws {
      let trash = try root.directory(".cascade-trash").names() + root.names()
      return trash.map(\.description).filter { ![".cascade-trash", "owner"].contains($0) }
    }
  }

  @discardableResult
  func apply(_ changes: Change..., at time: Int64? = nil) throws -> Receipt {
    count += 1
    let submission = Submission(
      id: "files-\(count)", author: "test", fingerprint: count, at: time ?? SystemClock.wall())
    var rest = changes[...]
    return try store.writer.group { try store.writer.apply(submission) { rest.popFirst() } }
  }

  /// What an application deletes or changes, and the sweep that follows. Returns the batch.
  @discardableResult
  func bySQL(_ sql: String) throws -> Int64? {
    try store.bySQL(sql)
    return try store.writer.sweep([.cascade, .refcount], at: SystemClock.wall()).batch
  }

  @discardableResult
  func tend(at time: Int64 = SystemClock.wall()) throws -> FileWork {
    var work = FileWork()
    repeat {
      work.add(try store.writer.processFiles(surroundings, at: time, budget: .seconds(1)))
    } while work.hasMore
    return work
  }

  func edge(_ name: String, _ path: String, _ rules: Rules = 32) -> Change {
    .link(name: "of", from: Node("notes", .text(name)), to: file(path), rules: rules)
  }

  func file(_ path: String) -> Destination { .file(root: "media", path: path) }

  func rows(_ table: String) throws -> Int64 {
    try Connection(path: store.path, access: .readOnly)
      .integer(generated: "SELECT count(*) FROM \(table)", []) ?? 0
  }
}
