import CascadeCSystem
package import CascadePostgres
import CascadeSystem
import Glibc

/// A throw-away PostgreSQL server for the tests of one process, on a socket in a directory of its
/// own. It ends with the process, however that ends, and its directory is removed.
///
/// Roles: `postgres`, the superuser; `application`, which owns the tables; and `cascaded`.
package final class Cluster: Sendable {
  package let directory: String
  /// The server is told by this descriptor what to do, and ends when it is closed.
  private let lifeline: CInt
  /// The server's script says a byte when it has done what it was told.
  private let answers: CInt
  private let nodes: [Node]
  /// Whether other tests use it, too.
  let isShared: Bool

  /// The directory of the programs; nil if PostgreSQL is not installed. `CASCADE_POSTGRES` names
  /// another one.
  static let programs: String? = {
    if let chosen = Process.environment("CASCADE_POSTGRES") { return chosen }
    let versions = (try? Directory.open("/usr/lib/postgresql").names().map(\.description)) ?? []
    let newest = versions.compactMap { Int($0) }.max()
    return newest.map { "/usr/lib/postgresql/\($0)/bin" }
  }()

  package static var isInstalled: Bool { programs != nil }
  package static let missing =
    "PostgreSQL is not installed: apt-get install postgresql"

  private static let shared = Result { try Cluster(isShared: true) }
  /// The one for the databases of a test that wants one for itself.
  @TaskLocal package static var own: Cluster?

  package static func running() throws -> Cluster { try own ?? shared.get() }

  /// A server for one test, which may be killed. Its standby is no synchronous one. `settings` are
  /// options of the server's command line.
  package convenience init(withStandby: Bool = false, settings: String = "") throws {
    try self.init(withStandby: withStandby, settings: settings, isShared: false)
  }

  private init(withStandby: Bool = false, settings: String = "", isShared: Bool) throws {
    self.isShared = isShared
    nodes = withStandby ? Node.allCases : [.first]
    let name = try Process.randomBytes(6).map { String($0, radix: 16) }.joined()
    directory = "\(unsafe access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")/cascade-pg-\(name)"
    (answers, lifeline) = try Cluster.start([
      "bash", "-c", Cluster.script, "cluster", directory, Cluster.programs ?? "",
      settings,
    ])
    try awaitAnswer()
    let session = try Session(location("postgres", as: "postgres"))
    try session.execute("CREATE ROLE application LOGIN; CREATE ROLE cascaded LOGIN")
    if withStandby {
      try session.execute("GRANT pg_monitor TO cascaded")
      try join(.second, of: .first)
    }
  }

  deinit {
    close(lifeline)
    close(answers)
  }

  private func awaitAnswer() throws {
    var byte: UInt8 = 0
    if unsafe read(answers, &byte, 1) != 1 || byte != UInt8(ascii: ".") {
      throw ClusterError(description: "no throw-away server: see \(directory).log")
    }
  }

  func tell(_ word: String) throws {
    let line = Array("\(word)\n".utf8)
    if unsafe write(lifeline, line, line.count) != line.count {
      throw ClusterError(description: "the server's script has ended")
    }
    try awaitAnswer()
  }

  /// What the server has said.
  package var log: String {
    get throws {
      let file = try FileDescriptor.open("\(directory).log")
      return String(decoding: try file.readWhole(limit: 1 << 28) ?? [], as: UTF8.self)
    }
  }

  private static func start(_ arguments: [String]) throws -> (output: CInt, lifeline: CInt) {
    var input: [CInt] = [0, 0]
    var output: [CInt] = [0, 0]
    guard unsafe pipe2(&input, O_CLOEXEC) == 0, unsafe pipe2(&output, O_CLOEXEC) == 0 else {
      throw ClusterError(description: "no pipes")
    }
    var actions = unsafe posix_spawn_file_actions_t()
    unsafe posix_spawn_file_actions_init(&actions)
    defer { unsafe posix_spawn_file_actions_destroy(&actions) }
    unsafe posix_spawn_file_actions_adddup2(&actions, input[0], STDIN_FILENO)
    unsafe posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
    var words = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe words.forEach { unsafe free($0) } }
    var identifier: pid_t = 0
    let result = unsafe posix_spawnp(
      &identifier, words[0]!, &actions, nil, &words, cascade_environment())
    close(input[0])
    close(output[1])
    if result != 0 { throw ClusterError(description: "bash does not start") }
    return (output[0], input[1])
  }

  /// Names all servers.
  package func location(_ database: String, as role: String) -> String {
    location(database, as: role, on: nodes)
  }

  func location(_ database: String, as role: String, on nodes: [Node]) -> String {
    let hosts = nodes.map { _ in directory }.joined(separator: ",")
    let ports = nodes.map { "\($0.port)" }.joined(separator: ",")
    return "postgresql:///\(database)?host=\(hosts)&port=\(ports)&user=\(role)"
  }
}

package struct ClusterError: Error, CustomStringConvertible {
  package let description: String
  package init(description: String) { self.description = description }
}

/// A database for one test, which is dropped with it. `application` may create tables in it, and
/// `cascaded` has the rights that the guide asks for.
package final class Database: Sendable {
  package let name: String
  package let dialect: Dialect
  private let cluster: Cluster

  /// `template` has everything already. Nothing may be connected to it.
  package init(
    schema: String = "", on cluster: Cluster? = nil, template: Database? = nil
  ) throws {
    self.cluster = try cluster ?? Cluster.running()
    dialect = TestedDialect.current
    name = try "t" + Process.randomBytes(6).map { String($0, radix: 16) }.joined()
    let administrator = try Session(self.cluster.location("postgres", as: "postgres"))
    try administrator.execute(
      "CREATE DATABASE \(name) OWNER application TEMPLATE \(template?.name ?? "template0")")
    try administrator.execute("GRANT CREATE ON DATABASE \(name) TO cascaded")
    if template != nil { return }
    let application = try session()
    try application.execute(
      """
      GRANT USAGE ON SCHEMA public TO cascaded;
      ALTER DEFAULT PRIVILEGES GRANT SELECT, INSERT, UPDATE, DELETE, TRIGGER ON TABLES TO cascaded
      """)
    if !schema.isEmpty { try application.execute(schema) }
  }

  /// What has a cluster of its own goes with it.
  deinit {
    if !cluster.isShared { return }
    guard let administrator = try? Session(cluster.location("postgres", as: "postgres")) else {
      return
    }
    try? administrator.execute("DROP DATABASE \(name) WITH (FORCE)")
  }

  /// What a model names.
  package var location: String {
    let location = cluster.location(name, as: "cascaded")
    return dialect == .fast ? location : "\(location)&dialect=\(dialect.rawValue)"
  }

  package func session(as role: String = "application") throws -> Session {
    try Session(cluster.location(name, as: role))
  }

  /// Also where nothing can be written.
  package func session(on node: Cluster.Node, as role: String = "postgres") throws -> Session {
    try Session(cluster.location(name, as: role, on: [node]) + "&target_session_attrs=any")
  }

  /// Another daemon may lead at once, and the one that leads may not write any more.
  package func endTerm() throws {
    try session(as: "postgres").execute(
      """
      UPDATE cascade.leader SET number = number + 1, holder = '';
      UPDATE cascade.leader_term SET number = number + 1, expires = clock_timestamp()
      """)
  }
}
