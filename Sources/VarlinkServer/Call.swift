package import CascadeModel
package import CascadeSystem
internal import CascadeVarlink
internal import SystemdService

/// One call of a method.
package struct Call: Sendable {
  /// With its interface.
  package let method: String
  /// An object.
  package let parameters: JSON
  /// The client takes any number of replies.
  package let more: Bool
  package let peer: Peer
  let connection: Connection

  /// Lives as long as the connection.
  package var session: AnyObject { connection }

  /// A reply before the last one; returns when the client's socket has taken it. A slow client
  /// makes this wait, so keep nothing locked, and bound what piles up meanwhile.
  @EventLoopActor
  package func reply(continues parameters: JSON) async throws {
    try requireMore()
    try await connection.send(Reply(parameters, continues: true))
  }

  /// For methods that make no sense with a single reply.
  package func requireMore() throws {
    if !more { throw VarlinkError.expectedMore }
  }
}
