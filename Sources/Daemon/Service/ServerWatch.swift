internal import CascadeStore
internal import SystemdService

/// What is found of a store's server while the store is served.
extension StoreService {
  func watchServer() async {
    guard let watch = try? stores.engine.watchServer(of: path, configuration.model) else { return }
    let listener = ServerListener(watch)
    while !Task.isCancelled {
      if condition.isAtRest {
        await listener.close()
        note(nil)
        try? await EventLoop.sleep(for: .seconds(1), tolerance: .seconds(1))
      } else {
        note(await listener.beat())
      }
    }
    await listener.close()
    condition.server = nil
  }

  private func note(_ trouble: ServerTrouble?) {
    let before = condition.server
    condition.server = trouble
    if trouble == before { return }
    if let trouble {
      tell(.warning, .trouble, trouble.reason, [(.reason, trouble.reason)])
    } else if before != nil {
      tell(.notice, .recovered, "the server is as it should be again")
    }
  }
}
