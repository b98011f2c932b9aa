internal import SystemdService

/// The connections, and what they may use. Where connections are short, the one that was idle
/// longest makes room, of the user who has most of them.
@EventLoopActor
final class Clients {
  private var connections: [ObjectIdentifier: Connection] = [:]
  private var places: Shares
  private var memory: Shares
  private let limits: VarlinkServer.Limits

  init(_ limits: VarlinkServer.Limits) {
    self.limits = limits
    places = Shares(of: 2 * limits.connections)
    memory = Shares(of: 2 * limits.memory)
  }

  /// Adds a connection. False if there is no room for it.
  func admit(_ connection: Connection) -> Bool {
    let user = connection.user
    if !places.hasRoom(of: user) && !makeRoom(for: user) && !limits.alwaysServed.contains(user) {
      return false
    }
    connections[ObjectIdentifier(connection)] = connection
    places.take(for: user)
    return true
  }

  func remove(_ connection: Connection) {
    if connections.removeValue(forKey: ObjectIdentifier(connection)) == nil { return }
    places.take(-1, for: connection.user)
  }

  private func makeRoom(for user: UInt32) -> Bool {
    for other in places.users(with: max(1, places.part(of: user))) {
      if let idle = longestIdle(of: other, where: { _ in true }) {
        end(idle)
        return true
      }
    }
    return false
  }

  private func longestIdle(of user: UInt32, where fits: (Connection) -> Bool) -> Connection? {
    connections.values.filter { $0.user == user && fits($0) }
      .sorted { $0.lastUse < $1.lastUse }.first(where: \.isIdle)
  }

  private func end(_ connection: Connection) {
    remove(connection)
    connection.end()
  }

  // MARK: - Memory

  /// What each connection may have beside the shares, so that short messages always pass.
  static let free = 1 << 16

  /// Whether the user may have so many bytes more. An unfinished message on an idle connection of
  /// the user's makes room.
  func takeMemory(_ count: Int, for connection: Connection) -> Bool {
    let user = connection.user
    while !memory.hasRoom(for: count, of: user) {
      let idle = longestIdle(of: user) { $0 !== connection && $0.sharedInput > 0 }
      guard let idle else { return false }
      giveBackMemory(idle.sharedInput, of: idle)
      idle.sharedInput = 0
      end(idle)
    }
    memory.take(count, for: user)
    return true
  }

  func giveBackMemory(_ count: Int, of connection: Connection) {
    memory.take(-count, for: connection.user)
  }
}
