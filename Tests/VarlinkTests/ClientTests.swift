import CascadeSystem
import CascadeVarlink
import TestSupport
import Testing

@Suite("The client")
struct ClientTests {
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
