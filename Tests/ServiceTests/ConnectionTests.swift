import CascadeModel
import CascadeSystem
import CascadeVarlink
import Testing
import VarlinkServer

@Suite("Connections")
struct ConnectionTests {
  @Test("answers everything after half a close")
  func halfClose() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      for number in 0..<100 { try client.send(echo("\(number)")) }
      try client.send(count(3, more: true))
      try client.descriptor.shutdownWriting()
      #expect(try client.receiveAll().count == 103)
    }
  }

  @Test("drops what is not complete when the client is done")
  func halfMessage() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(echo("a") + #"{"method":"io"#)
      try client.descriptor.shutdownWriting()
      #expect(try client.receiveAll() == [#"{"parameters":{"text":"a"}}"#])
    }
  }

  @Test("cancels a call whose client is gone, without waiting for an event")
  func clientGone() async throws {
    try await withService { path, service in
      do {
        let client = try RawClient(path)
        try client.send(wait)
        #expect(try await onLoop { try await eventually { service.waiting == 1 } })
        #expect(await service.cancelled == 0)
      }
      #expect(try await onLoop { try await eventually { service.cancelled == 1 } })
    }
  }

  @Test("goes on with a call whose client only closed its sending side")
  func waitingAfterHalfClose() async throws {
    try await withService { path, service in
      do {
        let client = try RawClient(path)
        try client.send(wait)
        try client.descriptor.shutdownWriting()
        #expect(try await onLoop { try await eventually { service.waiting == 1 } })
        var other = try VarlinkClient.connect(path)
        _ = try other.call("io.cascaded.Test.Notes")
        #expect(await service.cancelled == 0)
      }
      #expect(try await onLoop { try await eventually { service.cancelled == 1 } })
    }
  }

  @Test("takes a message of 1 MiB, and closes on more")
  func longMessages() async throws {
    try await withService { path, _ in
      let frame = (1 << 20) - echo("").utf8.count + 1
      var client = try RawClient(path)
      try client.send(echo(String(repeating: "x", count: frame)))
      #expect(try client.receive()?.utf8.count ?? 0 > 1 << 19)
      // The server closes while this is still being sent.
      try? client.send(echo(String(repeating: "x", count: frame + 1)))
      #expect(try client.receive() == nil)
    }
  }

  @Test("does not collect a message that never ends")
  func endless() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      #expect(throws: SystemError.self) {
        for _ in 0..<100 { try client.send([UInt8](repeating: 0x20, count: 1 << 16)) }
      }
      #expect(try client.receive() == nil)
    }
  }

  @Test("answers others while clients are silent, slow or stuck")
  func manyClients() async throws {
    try await withService { path, _ in
      var clients: [Holder] = []
      for index in 0..<200 {
        let client = Holder(try RawClient(path))
        // Silent; in the middle of a message; not reading what it asked for.
        switch index % 3 {
        case 0: break
        case 1: try client.value.send(#"{"method":"io.cascaded"#)
        default: try client.value.send(big(1 << 20) + echo("after"))
        }
        clients.append(client)
      }
      var other = try VarlinkClient.connect(path)
      for _ in 0..<100 {
        _ = try other.call("io.cascaded.Test.Notes", timeout: .seconds(10))
      }
      #expect(try clients[2].value.receive()?.utf8.count ?? 0 > 1 << 20)
      #expect(try clients[2].value.receive() == #"{"parameters":{"text":"after"}}"#)
    }
  }

  @Test("Above the limit, a new connection ends the one that was idle longest")
  func idleConnections() async throws {
    var limits = VarlinkServer.Limits()
    limits.connections = 2
    try await withService(limits: limits) { path, service in
      let waits = try RawClient(path)
      try waits.send(wait)
      #expect(try await onLoop { try await eventually { service.waiting == 1 } })
      var idle = try RawClient(path)
      try idle.send(notes)
      #expect(try idle.receive() != nil)
      for _ in 0..<10 { try Self.ask(path) }
      #expect(try idle.receive() == nil)
      #expect(await service.cancelled == 0)
    }
  }

  @Test("Above the limit, a connection is closed where none is idle, but not root's")
  func busyConnections() async throws {
    var limits = VarlinkServer.Limits()
    limits.connections = 2
    for served: Set<UInt32> in [[], [Process.userIdentifier]] {
      limits.alwaysServed = served
      try await withService(limits: limits) { path, service in
        do {
          var waiting = [Holder(try RawClient(path)), Holder(try RawClient(path))]
          for client in waiting { try client.value.send(wait) }
          #expect(try await onLoop { try await eventually { service.waiting == 2 } })
          if served.isEmpty {
            var third = try RawClient(path)
            #expect(try third.receive() == nil)
          } else {
            try Self.ask(path)
          }
          waiting = []
        }
        // Each attempt lasts until the server closes or answers.
        #expect((0..<1000).contains { _ in (try? Self.ask(path)) != nil })
      }
    }
  }

  @Test("A user leaves as much to others as he has")
  func shares() {
    var shares = Shares(of: 512)
    for (user, most) in [(1, 256), (2, 128), (3, 64)] as [(UInt32, Int)] {
      while shares.hasRoom(of: user) { shares.take(for: user) }
      #expect(shares.part(of: user) == most)
    }
    #expect(shares.users(with: 64) == [1, 2, 3])
    while shares.part(of: 1) > 0 { shares.take(-1, for: 1) }
    #expect(shares.hasRoom(for: 100, of: 4) && !shares.hasRoom(for: 200, of: 4))
  }

  @Test("A reply over the limit is refused, and so are unread ones that need much memory")
  func longReplies() async throws {
    var limits = VarlinkServer.Limits()
    limits.reply = 10 << 20
    limits.memory = 20 << 20
    try await withService(limits: limits) { path, _ in
      var client = try RawClient(path)
      try client.send(big(11 << 20))
      #expect(try client.receive()?.contains("the reply is longer than 10 MiB") == true)
      var deaf: [Holder] = []
      for _ in 0..<4 {
        deaf.append(Holder(try RawClient(path)))
        try deaf.last!.value.send(big(8 << 20))
      }
      // Each reply is written when the next connection is answered.
      try Self.ask(path)
      try client.send(big(8 << 20))
      #expect(try client.receive()?.contains("need too much memory") == true)
      try client.send(big(1 << 10))
      #expect(try client.receive()?.utf8.count ?? 0 > 1 << 10)
      deaf = []
    }
  }

  @Test("Unfinished calls share memory: the longest idle one makes room")
  func unfinishedCalls() async throws {
    var limits = VarlinkServer.Limits()
    limits.memory = 2 << 20
    try await withService(limits: limits) { path, _ in
      var clients: [Holder] = []
      for _ in 0..<6 {
        clients.append(Holder(try RawClient(path)))
        try clients.last!.value.send("{\"method\":\"" + String(repeating: "x", count: 900_000))
        try Self.ask(path)
      }
      #expect(try clients[0].value.receive() == nil)
      try clients[5].value.send("\"}\0")
      #expect(try clients[5].value.receive() != nil)
    }
  }

  @Test("cancels its calls and leaves nobody connected when it stops")
  func stop() async throws {
    let left = Holder()
    let counts = Counts()
    try await withService { path, service in
      left.client = try RawClient(path)
      try left.value.send(wait)
      #expect(try await onLoop { try await eventually { service.waiting == 1 } })
      counts.service = service
    }
    let service = try #require(counts.service)
    #expect(try await onLoop { try await eventually { service.cancelled == 1 } })
    #expect(try left.value.receive() == nil)
  }

  private static func ask(_ path: String) throws {
    var client = try VarlinkClient.connect(path)
    _ = try client.call("io.cascaded.Test.Notes", timeout: .seconds(10))
  }
}

private let notes = #"{"method":"io.cascaded.Test.Notes"}"# + "\0"
private let wait = #"{"method":"io.cascaded.Test.Wait"}"# + "\0"

private func big(_ size: Int) -> String {
  #"{"method":"io.cascaded.Test.Big","parameters":{"size":\#(size)}}"# + "\0"
}

private final class Holder {
  var client: RawClient?
  var value: RawClient {
    _read { yield client! }
    _modify { yield &client! }
  }

  init() {}
  init(_ client: consuming RawClient) { self.client = consume client }
}

private final class Counts {
  var service: TestService?
}
