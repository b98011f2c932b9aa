import CascadePostgres
import PostgresSupport
import Testing

/// Tests with a server. Without one they are skipped, and say so.
@Suite("A session", .enabled(if: Cluster.isInstalled, "\(Cluster.missing)"))
struct SessionTests {
  private let database: Database

  init() throws { database = try Database(schema: "CREATE TABLE t(id int PRIMARY KEY, v text)") }

  @Test("Values come back as they were given")
  func values() throws {
    let session = try database.session()
    let odd = "it's a \\ \"thing\" of ünïcode\n$1"
    let rows = try session.run(
      "SELECT $1::text, $2::text, $3::int + 1, $4::text[]",
      [odd, nil, "41", arrayText([odd, "", "{}"])])
    #expect(rows.rows[0][0] == odd)
    #expect(rows.rows[0][1] == nil)
    #expect(rows.rows[0][2] == "42")
    let elements = try session.run("SELECT unnest($1::text[])", [arrayText([odd, "", "{}"])])
    #expect(elements.texts == [odd, "", "{}"])
  }

  @Test("Quoted names and literals mean themselves")
  func quoting() throws {
    let session = try database.session()
    let odd = "a \"b\" 'c' \\d"
    #expect(try session.run("SELECT \(literal(odd)) AS \(quoted(odd))").text == odd)
  }

  @Test("A refused statement says its SQLSTATE and what it was")
  func refusal() throws {
    let session = try database.session()
    try session.execute("INSERT INTO t VALUES(1)")
    let error = #expect(throws: PostgresError.self) {
      try session.run("INSERT INTO t VALUES($1)", ["1"])
    }
    #expect(error?.sqlState == "23505")
    #expect(error?.isAboutTheValue == true)
    #expect(error?.doing == "INSERT INTO t VALUES($1)")
    #expect(try session.run("SELECT count(*) FROM t").integer == 1)
  }

  @Test("A NUL in a text is refused, and does not cut it")
  func nul() throws {
    let session = try database.session()
    let error = #expect(throws: PostgresError.self) { try session.run("SELECT $1", ["a\0b"]) }
    #expect(error?.sqlState == "22021")
  }

  @Test("A transaction that throws leaves nothing, a savepoint only what was before it")
  func transactions() throws {
    let session = try database.session()
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try session.transaction {
        try session.run("INSERT INTO t VALUES(1)")
        throw Stop()
      }
    }
    let isOpen = session.isInTransaction
    #expect(!isOpen)
    try session.transaction {
      try session.run("INSERT INTO t VALUES(2)")
      #expect(throws: PostgresError.self) {
        try session.savepoint { _ = try session.run("INSERT INTO t VALUES(2)") }
      }
      try session.savepoint { _ = try session.run("INSERT INTO t VALUES(3)") }
    }
    #expect(try session.run("SELECT id FROM t ORDER BY id").texts == ["2", "3"])
  }

  @Test("Statements in one exchange are answered each; if one fails, the session can go on")
  func exchange() throws {
    let session = try database.session()
    let add = "INSERT INTO t VALUES($1, $2)"
    let answers = try session.runEach([
      Statement(add, ["1", "a"]), Statement(add, ["2", nil]),
      Statement("SELECT id, v FROM t ORDER BY id"),
    ])
    #expect(answers.map(\.changed) == [1, 1, 2])
    #expect(answers[2].rows == [["1", "a"], ["2", nil]])
    let error = #expect(throws: PostgresError.self) {
      _ = try session.runEach([
        Statement(add, ["3", "c"]), Statement(add, ["1", "b"]), Statement("SELECT 1"),
      ])
    }
    #expect(error?.sqlState == "23505")
    #expect(try session.run("SELECT count(*) FROM t").integer == 2)
  }

  @Test("What was asked ahead is answered once, and not after the session did anything else")
  func askedAhead() throws {
    let session = try database.session()
    let other = try database.session()
    let query = "SELECT count(*) FROM t"
    try session.askAhead([query])
    try other.execute("INSERT INTO t VALUES(1)")
    #expect(try session.runAgain(query).integer == 0)
    #expect(try session.runAgain(query).integer == 1)
    try session.askAhead([query])
    try session.execute("INSERT INTO t VALUES(2)")
    #expect(try session.runAgain(query).integer == 2)
  }

  @Test("A notification wakes who listens, and only then")
  func notifications() throws {
    let one = try database.session()
    let other = try database.session()
    try one.listen("news")
    #expect(try !one.notification(within: 1))
    try other.execute("NOTIFY news")
    #expect(try one.notification(within: 5_000))
    #expect(try !one.notification(within: 1))
  }

  @Test("A server that is not there is a lost connection")
  func absence() {
    let error = #expect(throws: PostgresError.self) {
      _ = try Session("postgresql:///x?host=/nowhere")
    }
    #expect(error?.isConnectionLost == true)
  }
}

@Suite("The location of a database")
struct LocationTests {
  @Test("A URI is taken apart")
  func parts() throws {
    let location = try Location("postgresql://anna@db.example/music?host=/run/postgresql")
    #expect(location[setting: "dbname"] == "music")
    #expect(location[setting: "user"] == "anna")
  }

  @Test(
    "A password is refused",
    arguments: ["postgresql://anna:secret@h/music", "postgresql:///music?password=secret"])
  func password(uri: String) {
    let error = #expect(throws: InvalidLocation.self) { _ = try Location(uri) }
    #expect(error?.description.contains("a password does not belong into a model") == true)
  }

  @Test("The dialect is taken out before libpq sees the URI, wherever it stands")
  func dialect() throws {
    #expect(try Location("postgresql:///music").dialect == .fast)
    #expect(try Location("postgresql:///music?dialect=fast&user=x").dialect == .fast)
    for uri in ["music?dialect=portable&user=x", "music?user=x&dialect=portable"] {
      let location = try Location("postgresql:///\(uri)")
      #expect(location.dialect == .portable)
      #expect(location.uri == "postgresql:///music?user=x")
    }
    #expect(try Location("postgresql:///music?dialect=portable").uri == "postgresql:///music")
  }

  @Test("So are the names of standbys, and whether triggers may always notify")
  func own() throws {
    let location = try Location("postgresql:///m?standby=a,b%2dc&user=x&notify=on")
    #expect(location.standbys == ["a", "b-c"])
    #expect(location.notifies)
    #expect(location.uri == "postgresql:///m?user=x")
    let other = try Location("postgresql:///m")
    #expect(other.standbys == [] && !other.notifies)
  }

  @Test(
    "Other values of Cascade's own parameters are refused",
    arguments: [
      ("dialect=", #"the dialect is "fast" or "portable""#),
      ("dialect=fast&dialect=portable", #""dialect" is given twice"#),
      ("standby=", #""standby" lists the application names"#),
      ("standby=a,,b", #""standby" lists the application names"#),
      ("notify=off", #""notify" is "on", or is left out"#),
    ])
  func otherValues(parameters: String, reason: String) {
    let error = #expect(throws: InvalidLocation.self) {
      _ = try Location("postgresql:///music?\(parameters)")
    }
    #expect(error?.description.hasPrefix(reason) == true)
  }

  @Test("What is no URI says why")
  func invalid() {
    let error = #expect(throws: InvalidLocation.self) { _ = try Location("postgresql:///m?hots=x") }
    #expect(error?.description.contains("hots") == true)
  }
}
