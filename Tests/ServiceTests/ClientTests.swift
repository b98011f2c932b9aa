import CascadeModel
import CascadeSystem
import CascadeVarlink
import TestSupport
import Testing

@Suite("The client of a server")
struct ClientCallTests {
  @Test("gives the replies of a stream one by one, and then the next call's")
  func stream() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      try client.start("io.cascaded.Test.Count", ["to": 4])
      var numbers: [Int64] = []
      while let reply = try client.next() { numbers.append(reply["number"]?.integer ?? 0) }
      #expect(numbers == [1, 2, 3, 4])
      #expect(try client.next() == nil)
      #expect(try client.call("io.cascaded.Test.Notes") == ["numbers": []])
    }
  }

  @Test("sends oneway calls")
  func oneway() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      try client.callOneway("io.cascaded.Test.Note", ["number": 7])
      #expect(try client.call("io.cascaded.Test.Notes") == ["numbers": [7]])
    }
  }

  @Test("takes a reply of many megabytes")
  func longReply() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      let reply = try client.call("io.cascaded.Test.Big", ["size": 20_000_000])
      #expect(reply["text"]?.string?.utf8.count == 20_000_000)
    }
  }

  @Test("gives up in time")
  func timeout() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      #expect(throws: VarlinkClientError.timedOut) {
        try client.call("io.cascaded.Test.Wait", timeout: .milliseconds(1))
      }
    }
  }
}
