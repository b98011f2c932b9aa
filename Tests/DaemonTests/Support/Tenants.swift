import CascadeSystem
import Testing

/// A database for each tenant.
extension Host {
  static let tenantModel = """
    collections: { albums: { table: "album", key: "id" }, songs: { table: "song", key: "id" } },
    relationships: [
      { name: "album", from: "songs", to: "albums", column: "album",
        rules: ["deleteSourceIfDestinationDeleted"] },
      { name: "cover", from: "albums", to: { files: "media" }, column: "cover",
        rules: ["deleteDestinationIfAllSourcesDeleted"] }],
    files: { media: "media" }
    """

  func addTenant(_ tenant: String) throws -> String {
    let directory = scratch.path("tenants/\(tenant)")
    try #require(try run(["/bin/mkdir", "-p", "\(directory)/media"]).status == 0)
    let made = try run([
      "/usr/bin/sqlite3", "\(directory)/app.db",
      """
      CREATE TABLE album(id INTEGER PRIMARY KEY, cover TEXT);
      CREATE TABLE song(id INTEGER PRIMARY KEY, album INTEGER);
      CREATE INDEX song_album ON song(album); CREATE INDEX album_cover ON album(cover);
      INSERT INTO album VALUES(1, 'a.jpg'); INSERT INTO song VALUES(1, 1);
      """,
    ])
    #expect(made.status == 0, "\(made.error)")
    return "\(directory)/app.db"
  }

  /// Serves the stores of tenants by one model, and another store besides.
  static func ofTenants(_ rest: String = Host.tenantModel) throws -> Host {
    let host = try Host()
    let pattern = host.scratch.path("tenants/*/app.db")
    try host.write("tenants.json", "{ stores: \"\(pattern)\", \(rest) }")
    try host.model("own")
    return host
  }

  func deleteAlbum(of store: String) throws {
    let deletion = ["/usr/bin/sqlite3", "-cmd", ".timeout 5000", store, "DELETE FROM album"]
    try #require(try run(deletion).status == 0)
  }

  func waitUntilSwept(_ store: String) throws {
    try waitUntil("\(store) is swept") {
      try run(["/usr/bin/sqlite3", store, "SELECT count(*) FROM song"]).output == "0\n"
    }
  }
}
