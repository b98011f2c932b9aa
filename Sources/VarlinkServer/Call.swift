package import CascadeModel
package import CascadeSystem
internal import CascadeVarlink
internal import SystemdService

/// One call of a method.
package struct Call: Sendable {
  /// The full name, including the interface.
  package let method: String
  /// Always an object.
  package let parameters: JSON
  /// Whether the client accepts several replies.
  package let more: Bool
  package let peer: Peer
  let connection: Connection

  /// An object that lives as long as the connection.
  package var session: AnyObject { connection }

  /// Sends a reply before the last one, and returns when the socket of the client has taken it. A
  /// slow client delays this, so the caller must hold no lock and must limit what it collects
  /// meanwhile.
  @EventLoopActor
  package func reply(continues parameters: JSON) async throws {
    try requireMore()
    try await connection.send(Reply(parameters, continues: true))
  }

  /// For methods that are useless with a single reply.
  package func requireMore() throws {
    if !more { throw VarlinkError.expectedMore }
  }
}
