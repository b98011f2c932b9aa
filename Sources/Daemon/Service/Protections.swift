internal import CascadeModel
internal import CascadeStore
internal import CascadeSystem
internal import SystemdService

/// Nodes that are kept from every deletion.
extension StoreService {
  func protect(_ request: Protection.Request, by user: UInt32) async throws -> Protection {
    let protection = try await inTurn { try await onStore { try await writer.protect(request) } }
    mayHaveProtections = true
    protectionsBegan.ring()
    let until = request.until.map { " until \(SystemClock.text($0))" } ?? ""
    tell(
      .notice, .protected,
      "\(request.node) is protected by \(request.author.printable)\(until): \(request.reason.printable)",
      [(.reason, request.reason), (.peerUser, String(user))])
    return protection
  }

  func unprotect(_ node: Node, by user: UInt32) async throws -> Protection? {
    let author = userName(user)
    let known = try await inTurn {
      try await onStore { try await writer.unprotect(node, by: author) }
    }
    guard let known else { return nil }
    tell(
      .notice, .unprotected,
      "\(known.node) is not protected any more, by \(author.printable): it was because of "
        + "\(known.reason.printable)", [(.reason, known.reason), (.peerUser, String(user))])
    wakeUp()
    return known
  }

  /// Finds again each minute what is protected, as long as anything is.
  func followProtections() async {
    while !Task.isCancelled {
      let bell = protectionsBegan.subscribe()
      if isServed && mayHaveProtections && !condition.isAtRest {
        try? await inTurn { try await reviewProtections() }
      }
      let pause = Duration.milliseconds(Protection.interval)
      do {
        if mayHaveProtections {
          try await EventLoop.sleep(for: pause, tolerance: pause / 10)
        } else {
          try await bell.wait()
        }
      } catch { return }
    }
  }

  func reviewProtections() async throws {
    let (ended, isAny) = try await onStore { try await writer.reviewProtections() }
    mayHaveProtections = isAny
    for one in ended {
      tell(
        .notice, .unprotected, "\(one.node) is not protected any more: its time is over",
        [(.reason, one.reason)])
    }
    if !ended.isEmpty { wakeUp() }
  }
}
