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

  @Test("closes connections above the limit, and takes new ones when there is room")
  func connectionLimit() async throws {
    var limits = VarlinkServer.Limits()
    limits.connections = 2
    try await withService(limits: limits) { path, _ in
      var first = try VarlinkClient.connect(path)
      _ = try first.call("io.cascaded.Test.Notes")
      do {
        var second = try VarlinkClient.connect(path)
        _ = try second.call("io.cascaded.Test.Notes")
        var third = try RawClient(path)
        #expect(try third.receive() == nil)
      }
      // Each attempt lasts until the server closes or answers.
      #expect((0..<1000).contains { _ in (try? Self.ask(path)) != nil })
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
