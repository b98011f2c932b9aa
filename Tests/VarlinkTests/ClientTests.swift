import CascadeModel
import CascadeSystem
import Testing
import CascadeVarlink

@Suite("The client")
struct ClientTests {
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

  @Test("says that nobody is there")
  func nobody() throws {
    let scratch = try Scratch()
    #expect {
      _ = try VarlinkClient.connect(scratch.path("control"))
    } throws: {
      guard case VarlinkClientError.system(let error) = $0 else { return false }
      return error.isAbsence
    }
  }

  @Test(
    "does not take everything for an answer",
    arguments: [
      ("", VarlinkClientError.disconnected), ("{}", .disconnected), ("[]\0", .malformed),
      ("\0", .malformed), (#"{"parameters":1}"# + "\0", .malformed),
      (#"{"error":"a.B"}"# + "\0", .refused(VarlinkError("a.B"))),
    ])
  func answers(answer: String, error: VarlinkClientError) throws {
    let scratch = try Scratch()
    let listener = try UnixSocket.listen(scratch.path("control"))
    var client = try VarlinkClient.connect(scratch.path("control"))
    guard let server = try listener.accept() else {
      Issue.record("nobody came")
      return
    }
    _ = try server.send(Array(answer.utf8), from: 0)
    try server.shutdownWriting()
    #expect(throws: error) { try client.call("a.B", timeout: .seconds(10)) }
  }
}
