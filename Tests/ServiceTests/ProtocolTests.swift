import CascadeModel
import CascadeSystem
import CascadeVarlink
import Testing

/// The corners of the protocol, UAPI.20.
@Suite("The protocol")
struct ProtocolTests {
  @Test(
    "closes the connection on what contradicts itself",
    arguments: [
      #"{"method":"a.B","oneway":true,"upgrade":true}"#,
      #"{"method":"a.B","oneway":true,"more":true,"upgrade":true}"#,
      #"{"method":"a.B","method":"a.B"}"#, #"{"method":"a.B","more":{}}"#, "null", #""a.B""#,
      #"{"method":"a.B","oneway":null}"#, #"{"method":["a.B"]}"#, " ", "\u{FEFF}{}",
    ])
  func contradictions(message: String) async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(message + "\0" + echo("after"))
      #expect(try client.receive() == nil)
    }
  }

  @Test("takes flags that are false as if they were not there")
  func falseFlags() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(
        #"{"method":"io.cascaded.Test.Notes","oneway":false,"more":false,"upgrade":false}"# + "\0")
      #expect(try client.receive() == #"{"parameters":{"numbers":[]}}"#)
    }
  }

  @Test(
    "never answers a oneway call, whatever is wrong with it",
    arguments: [
      ("Foo", "{}"), ("no.such.Foo", "{}"), ("io.cascaded.Test.Foo", "{}"),
      ("io.cascaded.Test.Absent", "{}"), ("io.cascaded.Test.Echo", "{}"),
      ("io.cascaded.Test.Echo", #"{"text":1}"#), ("io.cascaded.Test.Notes", #"{"x":1}"#),
      ("io.cascaded.Test.Fail", #"{"plainly":true}"#), ("io.cascaded.Test.Count", #"{"to":3}"#),
      ("io.cascaded.Test.Fail", #"{"plainly":false}"#), ("io.cascaded.Test.Notes", "{}"),
      ("io.cascaded.Test.Big", #"{"size":1000000}"#), ("org.varlink.service.GetInfo", "{}"),
    ])
  func oneway(method: String, parameters: String) async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      let call = #"{"method":"\#(method)","parameters":\#(parameters),"oneway":true}"# + "\0"
      try client.send(call + echo("a") + call + echo("b"))
      try client.descriptor.shutdownWriting()
      let expected = ["a", "b"].map { #"{"parameters":{"text":"\#($0)"}}"# }
      #expect(try client.receiveAll() == expected)
    }
  }

  @Test("ends a stream with an error, which does not continue, and goes on with the next call")
  func brokenStream() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(
        #"{"method":"io.cascaded.Test.Break","more":true}"# + "\0"
          + #"{"method":"no.Such","more":true}"# + "\0" + echo("next"))
      #expect(try client.receive() == #"{"parameters":{},"continues":true}"#)
      #expect(
        try client.receive()
          == #"{"error":"io.cascaded.Test.Failed","parameters":{"reason":"broken"}}"#)
      #expect(
        try client.receive()
          == #"{"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"no"}}"#)
      #expect(try client.receive() == #"{"parameters":{"text":"next"}}"#)
    }
  }

  @Test(
    "has an answer to names that are none",
    arguments: [
      ("", "InterfaceNotFound", #""interface":"""#),
      (".Foo", "InterfaceNotFound", #""interface":"""#),
      ("io.cascaded.Test.", "MethodNotFound", #""method":"io.cascaded.Test.""#),
      ("io.cascaded.Test", "InterfaceNotFound", #""interface":"io.cascaded""#),
      ("io.cascaded.Test..Notes", "InterfaceNotFound", #""interface":"io.cascaded.Test.""#),
      ("io.cascaded.test.Notes", "InterfaceNotFound", #""interface":"io.cascaded.test""#),
    ])
  func names(method: String, error: String, parameters: String) async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(#"{"method":"\#(method)"}"# + "\0")
      let expected = #"{"error":"org.varlink.service.\#(error)","parameters":{\#(parameters)}}"#
      #expect(try client.receive() == expected)
    }
  }

  @Test("gives the very text of a description, comments and all")
  func description() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      let reply = try client.call(
        "org.varlink.service.GetInterfaceDescription", ["interface": "io.cascaded.Test"])
      #expect(reply["description"] == .string(await TestService.text))
    }
  }

  @Test("writes integers of any size as they are, without a space around anything")
  func integers() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(note(.max) + note(.min) + #"{"method":"io.cascaded.Test.Notes"}"# + "\0")
      #expect(
        try client.receive()
          == #"{"parameters":{"numbers":[9223372036854775807,-9223372036854775808]}}"#)
    }
  }

  @Test("goes on when a client leaves without the answer that is being sent to it")
  func leavingUnanswered() async throws {
    try await withService { path, _ in
      for _ in 0..<20 {
        let client = try RawClient(path)
        try client.send(
          #"{"method":"io.cascaded.Test.Big","parameters":{"size":1000000}}"# + "\0" + echo("x"))
        // Some of it is there, and the rest waits for room.
        try client.descriptor.waitBlocking(for: .readable, milliseconds: 10_000)
      }
      var other = try VarlinkClient.connect(path)
      #expect(try other.call("io.cascaded.Test.Notes", timeout: .seconds(10)) == ["numbers": []])
    }
  }
}
