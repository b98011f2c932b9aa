import CascadeModel
import CascadePostgres
import CascadeStore
import PostgresStore
import PostgresSupport
import StoreDefinition
import Testing

/// What the daemon asks and writes, besides what goes.
@Suite("The daemon's work on PostgreSQL", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct WorkTests {
  @Test("While the daemon works no row asks for notifications, however much others commit")
  func busy() throws {
    let store = try Music.store()
    let watch = try #require(try PostgresEngine().watchCommits(of: store.database.location))
    for round in 0..<3 {
      try store.bySQL("INSERT INTO artist VALUES('\(round)')")
      try store.bySQL("DELETE FROM artist WHERE name IS NULL")
      #expect(try watch.next())
      #expect(try store.texts("SELECT count(*) FROM cascade.asleep") == ["0"])
    }
    try store.sweep()
    try store.settle()
    let isNews = try watch.next()
    #expect(try !isNews && store.texts("SELECT count(*) FROM cascade.asleep") == ["1"])
  }
}
