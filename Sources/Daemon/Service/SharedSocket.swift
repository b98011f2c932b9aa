internal import CascadeModel
internal import CascadeSystem

/// The users that may see and command a store on a socket that others share. For other users there is no such store.
extension StoreService {
  func isOpen(to peer: Peer) -> Bool {
    guard let access = configuration.model.access else { return true }
    if [0, Process.userIdentifier, owner].contains(peer.uid) { return true }
    switch access {
    case .user(let name): return Account.user(name) == peer.uid
    case .group(let name):
      return Account.group(name).map { ([peer.gid] + peer.groups).contains($0) } ?? false
    }
  }

  private var owner: UInt32? {
    configuration.isFile ? (try? FileStatus.of(configuration.path))?.uid : nil
  }
}

extension Stores {
  func services(for peer: Peer) -> [StoreService] { services.filter { $0.isOpen(to: peer) } }

  /// What concerns the daemon as a whole may name any store.
  func areAllOpen(to peer: Peer) -> Bool { services.allSatisfy { $0.isOpen(to: peer) } }
}
