import CascadeModel
import CascadeStore
import CascadeSystem
import TestSupport
import Testing

/// A root of files is its directory: what is remembered of its files stays true when the model gives it
/// another name.
package struct RenamedRoots {
  private let engine: any EngineUnderTest

  package init(_ engine: any EngineUnderTest) { self.engine = engine }

  package enum Claim: String, CaseIterable, CustomTestStringConvertible {
    case undo = "A file comes back into a root that has another name"
    case released = "A file that was let go under the old name is moved under the new one"
    case stored = "Stored edges lead to files of a root that has another name"
    case moved = "A root that has another name in another place is the one that it was"
    case swapped = "Two roots may swap their names, and keep what is remembered of their files"

    package var testDescription: String { rawValue }
  }

  package func expect(_ claim: Claim) throws {
    let store = try CoverStore(engine)
    switch claim {
    case .undo: try undo(store)
    case .released: try released(store)
    case .stored: try stored(store)
    case .moved: try moved(store)
    case .swapped: try swapped(store)
    }
  }

  private func undo(_ store: CoverStore) throws {
    let batch = try store.deleteAlbum()
    try store.open { $0.media = "pictures" }
    #expect(try store.undo(batch) && store.isThere("one/1"))
    try store.bySQL("DELETE FROM album WHERE id = 2")
    #expect(try store.sweep() != nil && !store.isThere("one/2"))
  }

  private func released(_ store: CoverStore) throws {
    try store.bySQL("DELETE FROM album WHERE id = 1")
    try store.open { $0.media = "pictures" }
    #expect(try store.sweep() != nil && !store.isThere("one/1"))
  }

  private func stored(_ store: CoverStore) throws {
    try store.link("1")
    try store.open { $0.media = "pictures" }
    try store.bySQL("DELETE FROM album WHERE id = 1")
    _ = try store.sweep()
    #expect(store.isThere("one/1"))
    try store.deleteNote()
    _ = try store.sweep()
    #expect(!store.isThere("one/1"))
  }

  private func moved(_ store: CoverStore) throws {
    let batch = try store.deleteAlbum()
    try store.move("one", to: "other/one")
    try store.open { ($0.media, $0.mediaWas, $0.path) = ("pictures", "media", "other/one") }
    #expect(try store.undo(batch) && store.isThere("other/one/1"))
  }

  private func swapped(_ store: CoverStore) throws {
    let batch = try store.deleteAlbum()
    try store.open { ($0.media, $0.notes) = ($0.notes, $0.media) }
    #expect(try store.undo(batch) && store.isThere("one/1"))
    #expect(!store.isThere("two/1"))
  }
}

/// Albums with covers in the root `one`, and another root.
private final class CoverStore {
  private let store: any StoreUnderTest
  private let files: TendedFiles
  private var names = Names()

  struct Names {
    var media = "media"
    var mediaWas: String?
    var path = "one"
    var notes = "scores"
  }

  init(_ engine: any EngineUnderTest) throws {
    files = try TendedFiles()
    for place in ["one", "two", "other"] {
      _ = try Directory.openOrMake(files.scratch.path(place))
    }
    store = try engine.makeStore(
      model: StoreModel(CoverStore.model(names, files.scratch.path)),
      schema: """
        CREATE TABLE album(id INTEGER PRIMARY KEY, cover TEXT);
        CREATE INDEX album_cover ON album(cover);
        INSERT INTO album VALUES(1, '1'), (2, '2'), (3, '3');
        """)
    try files.write("one/1", "one/2", "one/3", "two/other")
    _ = try store.writer.sweep([.all], at: SystemClock.wall())
    try files.tend(store)
  }

  private static func model(_ names: Names, _ directory: String) -> String {
    let was = names.mediaWas.map { ", was: '\($0)'" } ?? ""
    return """
      { collections: { albums: { table: 'album', key: 'id' }, notes: {} },
        relationships: [
          { name: 'cover', from: 'albums', to: { files: '\(names.media)' }, column: 'cover',
            rules: ['deleteDestinationIfAllSourcesDeleted'] },
          { name: 'about', from: 'notes', to: { files: '\(names.media)' }, toMany: true,
            rules: ['deleteDestinationIfAllSourcesDeleted'] }],
        files: { \(names.media): { path: '\(directory)/\(names.path)'\(was) },
          \(names.notes): '\(directory)/two' } }
      """
  }

  /// Opens the store with other names, as a reload does.
  func open(_ change: (inout Names) -> Void) throws {
    change(&names)
    try store.reopen(with: StoreModel(CoverStore.model(names, files.scratch.path)))
  }

  /// As to another disk: the new directory is not the old one.
  func move(_ old: String, to new: String) throws {
    let target = try Directory.openOrMake(files.scratch.path(new))
    let source = try Directory.open(files.scratch.path(old))
    for name in try source.names() { try source.rename(name, to: target, as: name) }
  }

  func bySQL(_ sql: String) throws { try store.bySQL(sql) }

  func isThere(_ path: String) -> Bool { files.isThere(path) }

  func link(_ path: String) throws {
    let note = Node("notes", .text("n"))
    let edge = DeclaredEdge(
      name: "about", destination: .file(root: names.media, path: path),
      rules: .deleteDestinationIfAllSourcesDeleted)
    try store.apply([.put(note, type: nil, value: nil, edges: [edge])])
  }

  func deleteNote() throws { try store.apply([.delete(Node("notes", .text("n")))]) }

  /// Sweeps and moves files. Returns the batch.
  func sweep() throws -> Int64? {
    let batch = try store.writer.sweep([.cascade, .refcount], at: SystemClock.wall()).batch
    try files.tend(store)
    return batch
  }

  func deleteAlbum() throws -> Int64 {
    try bySQL("DELETE FROM album WHERE id = 1")
    let batch = try #require(try sweep())
    #expect(!isThere("one/1"))
    return batch
  }

  /// Whether the one file of the batch came back.
  func undo(_ batch: Int64) throws -> Bool {
    let undone = try store.writer.undo(batch, by: "me", at: SystemClock.wall())
    return try undone.files == 1 && undone.leftCount == 0 && files.tend(store).restored == 1
  }
}
