import CascadeModel
import CascadeSystem
import CascadeVarlink
import Testing

@Suite("The server")
struct ServerTests {
  @Test("answers a call however it was cut", arguments: [1, 2, 7, 1000])
  func splitFrames(size: Int) async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      let bytes = Array((echo("a") + echo("b") + echo("c")).utf8)
      for start in stride(from: 0, to: bytes.count, by: size) {
        try client.send(Array(bytes[start..<min(start + size, bytes.count)]))
      }
      for text in ["a", "b", "c"] {
        #expect(try client.receive() == #"{"parameters":{"text":"\#(text)"}}"#)
      }
    }
  }

  @Test("takes absent, null and empty parameters as the same")
  func noParameters() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      for parameters in ["", #","parameters":null"#, #", "parameters" : { }"#] {
        try client.send(#" {"method":"io.cascaded.Test.Notes"\#(parameters)} "# + "\0")
        #expect(try client.receive() == #"{"parameters":{"numbers":[]}}"#)
      }
    }
  }

  @Test(
    "closes the connection without a word",
    arguments: [
      "", "garbage", "[]", "1", "{", #"{"method":"a.B"}{}"#, #"{"parameters":{}}"#,
      #"{"method":1}"#, #"{"method":null}"#, #"{"method":"a.B","parameters":[]}"#,
      #"{"method":"a.B","parameters":1}"#, #"{"method":"a.B","more":null}"#,
      #"{"method":"a.B","more":1}"#, #"{"method":"a.B","oneway":"true"}"#,
      #"{"method":"a.B","upgrade":0}"#, #"{"method":"a.B","more":true,"oneway":true}"#,
      #"{"method":"a.B","more":true,"upgrade":true}"#, #"{"method":"a.B","unknown":1}"#,
    ])
  func malformed(message: String) async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(echo("before") + message + "\0" + echo("after"))
      #expect(try client.receiveAll() == [#"{"parameters":{"text":"before"}}"#])
    }
  }

  @Test("closes the connection on what is not UTF-8")
  func notUTF8() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(Array(#"{"method":""#.utf8) + [0xFF] + Array("\"}\0".utf8))
      #expect(try client.receive() == nil)
    }
  }

  @Test("ignores other people's members")
  func extensions() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(#"{"method":"io.cascaded.Test.Notes","com.example.x":[1]}"# + "\0")
      #expect(try client.receive() == #"{"parameters":{"numbers":[]}}"#)
    }
  }

  @Test(
    "says what is wrong with a call",
    arguments: [
      (#""method":"Foo""#, "InterfaceNotFound", #""interface":"Foo""#),
      (#""method":"no.such.Foo""#, "InterfaceNotFound", #""interface":"no.such""#),
      (
        #""method":"io.cascaded.Test.Foo""#, "MethodNotFound",
        #""method":"io.cascaded.Test.Foo""#
      ),
      (
        #""method":"io.cascaded.Test.Absent""#, "MethodNotImplemented",
        #""method":"io.cascaded.Test.Absent""#
      ),
      (
        #""method":"io.cascaded.Test.Notes","upgrade":true"#, "MethodNotImplemented",
        #""method":"io.cascaded.Test.Notes""#
      ),
      (
        #""method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"x.y"}"#,
        "InterfaceNotFound", #""interface":"x.y""#
      ),
      (
        #""method":"org.varlink.service.GetInterfaceDescription""#,
        "InvalidParameter", #""parameter":"interface""#
      ),
    ])
  func serviceErrors(call: String, error: String, parameters: String) async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send("{\(call)}\0")
      let expected = #"{"error":"org.varlink.service.\#(error)","parameters":{\#(parameters)}}"#
      #expect(try client.receive() == expected)
    }
  }

  @Test(
    "names the parameter that is missing, unknown or of another type",
    arguments: [
      ("{}", "text"), (#"{"text":null}"#, "text"), (#"{"text":1}"#, "text"),
      (#"{"text":"","more":1}"#, "more"), (#"{"text":"","count":"1"}"#, "count"),
      (#"{"text":"","count":1.5}"#, "count"), (#"{"text":"","ratio":true}"#, "ratio"),
      (#"{"text":"","flag":0}"#, "flag"), (#"{"text":"","point":{}}"#, "point.x"),
      (#"{"text":"","point":{"x":1,"z":1}}"#, "point.z"),
      (#"{"text":"","colour":"blue"}"#, "colour"), (#"{"text":"","list":[1,"2"]}"#, "list[1]"),
      (#"{"text":"","map":{"a":1}}"#, "map.a"),
    ])
  func parameters(parameters: String, bad: String) async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      #expect(throws: VarlinkClientError.refused(.invalidParameter(bad))) {
        try client.call("io.cascaded.Test.Echo", JSON.parse(parameters))
      }
    }
  }

  @Test("takes every parameter that is as described")
  func allParameters() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      let reply = try client.call(
        "io.cascaded.Test.Echo",
        [
          "text": "é\u{0}", "count": 9_007_199_254_740_993, "ratio": 1, "flag": true,
          "point": ["x": 1, "y": nil], "colour": "red", "list": [], "map": ["a": "b"],
          "value": ["a": [1]],
        ])
      #expect(reply == ["text": "é\u{0}"])
    }
  }

  @Test("carries a method's own errors, and translates what is none")
  func errors() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      for (plainly, reason) in [(true, "asked to"), (false, "Oops()")] {
        let error = VarlinkError("io.cascaded.Test.Failed", ["reason": .string(reason)])
        #expect(throws: VarlinkClientError.refused(error)) {
          try client.call("io.cascaded.Test.Fail", ["plainly": .bool(plainly)])
        }
      }
    }
  }

  @Test("never answers a oneway call, and keeps the order")
  func oneway() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      for number in 1...3 { try client.send(note(number)) }
      try client.send(#"{"method":"no.Such","oneway":true}"# + "\0")
      try client.send(#"{"method":"io.cascaded.Test.Note","oneway":true}"# + "\0")
      try client.send(#"{"method":"io.cascaded.Test.Notes"}"# + "\0")
      #expect(try client.receive() == #"{"parameters":{"numbers":[1,2,3]}}"#)
    }
  }

  @Test("does what a oneway client wanted that left at once")
  func onewayAndGone() async throws {
    try await withService { path, service in
      do {
        let client = try RawClient(path)
        try client.send(note(1) + note(2) + note(3))
      }
      #expect(try await onLoop { try await eventually { service.notes == [1, 2, 3] } })
    }
  }

  @Test("streams replies, and keeps what is pipelined behind waiting")
  func more() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(count(3, more: true) + echo("next"))
      #expect(try client.receive() == #"{"parameters":{"number":1},"continues":true}"#)
      #expect(try client.receive() == #"{"parameters":{"number":2},"continues":true}"#)
      #expect(try client.receive() == #"{"parameters":{"number":3}}"#)
      #expect(try client.receive() == #"{"parameters":{"text":"next"}}"#)
    }
  }

  @Test("asks for 'more' where one reply makes no sense")
  func expectedMore() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(count(3, more: false))
      let expected = #"{"error":"org.varlink.service.ExpectedMore","parameters":{}}"#
      #expect(try client.receive() == expected)
    }
  }

  @Test("answers a plain method once, even if more is asked for")
  func moreOfOne() async throws {
    try await withService { path, _ in
      var client = try RawClient(path)
      try client.send(#"{"method":"io.cascaded.Test.Notes","more":true}"# + "\0")
      #expect(try client.receive() == #"{"parameters":{"numbers":[]}}"#)
    }
  }

  @Test("describes itself")
  func introspection() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      let info = try client.call("org.varlink.service.GetInfo")
      #expect(info["interfaces"] == ["org.varlink.service", "io.cascaded.Test"])
      #expect(info["vendor"] == "Cascade")
      for name in info["interfaces"]?.array ?? [] {
        let reply = try client.call(
          "org.varlink.service.GetInterfaceDescription", ["interface": name])
        let description = try Description.parse(try #require(reply["description"]?.string))
        #expect(description.name == name.string)
      }
    }
  }

  @Test("knows who asks")
  func peer() async throws {
    try await withService { path, _ in
      var client = try VarlinkClient.connect(path)
      let reply = try client.call("io.cascaded.Test.Who")
      #expect(reply["pid"]?.integer == Int64(Process.identifier))
      #expect(reply["uid"]?.integer == Int64(Process.userIdentifier))
    }
  }
}

func echo(_ text: String) -> String {
  #"{"method":"io.cascaded.Test.Echo","parameters":{"text":"\#(text)"}}"# + "\0"
}

func note(_ number: Int) -> String {
  #"{"method":"io.cascaded.Test.Note","parameters":{"number":\#(number)},"oneway":true}"# + "\0"
}

func count(_ end: Int, more: Bool) -> String {
  #"{"method":"io.cascaded.Test.Count","parameters":{"to":\#(end)},"more":\#(more)}"# + "\0"
}
