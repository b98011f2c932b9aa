import CascadeKit
import Model
import Store
import System

guard let path = storePath() else { fatalError(usage) }
if CommandLine.arguments[1] == "model" {
  // What `cascaded --model` reads.
  print(model.text)
} else {
  try await run(CascadeKit.Store(path, author: "music/1.0"))
}

func run(_ store: CascadeKit.Store) async throws {
  let nina = Artist(id: .new(), name: "Nina Simone")
  let blues = Album(id: .new(), title: "Pastel Blues", artist: nina.id)
  try await store.write { tx in
    try tx.put(blues)
    try tx.put(nina)
  }
  let albums = try await store.read { db in try db.get(Artist.albums, of: nina) }
  print("\(nina.name) has \(albums.map(\.title))")

  let receipt = try await store.write { tx in tx.delete(nina.id) }
  let isAmongThem = receipt.deleted.contains { $0.isNode(blues.id) }
  print("deleted \(receipt.deletedCount), among them the album: \(isAmongThem)")
  print("the album is \(try await store.why(blues.id).state)")
  print("restored \(try await store.undo(receipt).restored)")
}
