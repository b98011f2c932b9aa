internal import CascadePostgres
internal import CascadeSystem

/// The servers of a cluster, and what may happen to them.
extension Cluster {
  package enum Node: String, CaseIterable, Sendable {
    case first, second

    var port: Int { self == .first ? 5_432 : 5_433 }
    package var other: Node { self == .first ? .second : .first }
  }

  /// Kills the first process of a server. Its others end when they notice that.
  package func kill(_ node: Node = .first) throws { try tell("end \(node) KILL") }

  /// Ends all processes of a server at once. What they have not sent is lost.
  package func crash(_ node: Node) throws { try tell("crash \(node)") }

  /// Ends a server in good order: standbys get all that it wrote.
  package func stop(_ node: Node) throws { try tell("end \(node) INT") }

  /// Starts a server again, and returns when it answers.
  package func start(_ node: Node = .first) throws { try tell("start \(node)") }

  /// Stops all processes of a server. Whoever asks it something gets no answer, and no error.
  package func freeze(_ node: Node) throws { try tell("signal \(node) STOP") }
  package func thaw(_ node: Node) throws { try tell("signal \(node) CONT") }

  /// Makes a standby the primary.
  package func promote(_ node: Node) throws { try tell("promote \(node)") }

  /// Makes a server anew, as a standby of the other one, and starts it.
  package func join(_ node: Node, of other: Node) throws { try tell("join \(node) \(other)") }

  /// Kills the primary, and makes the standby one.
  package func failOver() throws {
    try kill(.first)
    try promote(.second)
  }

  /// Starts the server as a standby, and makes it the primary, as after a restore.
  package func promote() throws {
    try kill()
    try Directory.open("\(directory)/first").file("standby.signal", .createNew).writeAll([])
    try start()
    let session = try Session(location("postgres", as: "postgres") + "&target_session_attrs=any")
    try session.run("SELECT pg_promote()")
  }

  /// Receives what a server writes as an archiver does. One that is `synchronous` tells what it has
  /// flushed.
  package func archive(_ node: Node, as name: String, synchronous: Bool) throws {
    try tell("receive \(node) \(name) \(synchronous ? "synchronous" : "")")
  }
}
