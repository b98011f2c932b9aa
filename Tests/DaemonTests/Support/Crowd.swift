import CascadeSystem

/// Many clients at once, each a nuisance of its own kind, on a thread of their own.
actor Crowd {
  private nonisolated let thread: WorkerThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.executor }
  nonisolated let isOver = Flag()

  private let socket: String
  private var clients: [HostileClient?]
  private(set) var tally = Tally()

  struct Tally {
    var rounds = 0
    var connections = 0
    /// By the daemon, for what they said.
    var closed = 0
    /// Those that had closed their writing side: they got all their answers, some, or none, as
    /// there was no room for them.
    var answered = 0
    var cut = 0
    var refused = 0
  }

  init(_ socket: String, of count: Int) throws {
    thread = WorkerThread(name: "crowd")
    self.socket = socket
    clients = Array(repeating: nil, count: count)
  }

  /// Those that left and come again would otherwise be more than the daemon lets in.
  private static let pause = Duration.milliseconds(20)

  /// Returns when it is over, and everybody has left.
  func besiege() {
    while !isOver.isSet {
      for number in clients.indices { disturb(number) }
      tally.rounds += 1
      SystemClock.sleep(for: Crowd.pause)
    }
    clients = []
  }

  private enum Kind: Int, CaseIterable {
    case silent, slow, deaf, following, halfClosed, garbage, endless, pipelined, vanishing, waiting
  }

  private func disturb(_ number: Int) {
    let isNew = clients[number] == nil
    if isNew {
      clients[number] = HostileClient(socket)
      tally.connections += 1
    }
    guard let client = clients[number] else { return }
    let kind = Kind(rawValue: number % Kind.allCases.count)!
    switch kind {
    case .silent: break
    case .slow: client.send([Words.status[tally.rounds % Words.status.count]])
    case .deaf: if isNew { client.send(Words.listing) }
    case .following: if isNew { client.send(Words.following(number)) }
    case .halfClosed: isNew ? ask(client) : listen(client, number)
    case .garbage: client.send(Words.garbage[tally.rounds % Words.garbage.count])
    case .endless: client.send(Words.endless)
    case .pipelined: client.send(Words.pipelined)
    case .vanishing: client.send(Words.unfinished[tally.rounds % Words.unfinished.count])
    case .waiting: if isNew { client.send(Words.upload) }
    }
    leave(number, kind)
  }

  private func leave(_ number: Int, _ kind: Kind) {
    guard let client = clients[number] else { return }
    switch kind {
    case .garbage, .endless, .pipelined: client.listen()
    // In the middle of a call, at the latest in the next round.
    case .vanishing: clients[number] = nil
    default: break
    }
    if client.isClosed {
      tally.closed += 1
      clients[number] = nil
    }
  }

  private static let calls = 3

  private func ask(_ client: HostileClient) {
    for _ in 0..<Crowd.calls { client.send(Words.status) }
    client.stopWriting()
  }

  private func listen(_ client: HostileClient, _ number: Int) {
    client.listen()
    if !client.isClosed { return }
    switch client.answers {
    case Crowd.calls: tally.answered += 1
    case 0: tally.refused += 1
    default: tally.cut += 1
    }
    clients[number] = nil
  }
}

/// What they say.
private enum Words {
  static let status = call("Status")
  static let listing = call("Nodes", #"{"collection":"many"}"#, #","more":true"#)
  static let upload = call("Upload", #"{"data":"eyJjaGFuZ2VzIjogWw=="}"#)

  static func following(_ number: Int) -> [UInt8] {
    call(number % 20 < 10 ? "Events" : "Notices", #"{"follow":true}"#, #","more":true"#)
  }

  static let garbage: [[UInt8]] =
    [
      "no JSON", "{", "[]", "null", #"{"parameters":{}}"#, #"{"method":1}"#,
      #"{"method":"io.cascaded.Control.Status","parameters":[]}"#,
      #"{"method":"io.cascaded.Control.Status","oneway":true,"more":true}"#,
      #"{"method":"io.cascaded.Control.Status","more":true,"upgrade":true}"#,
      #"{"method":"io.cascaded.Control.Status","more":"yes"}"#,
      #"{"method":"io.cascaded.Control.Status","surprise":1}"#,
      String(repeating: "[", count: 100_000), "\0\0\0\0\0\0",
    ].map { Array($0.utf8) + [0] } + [[0xFF, 0xFE, 0], Array(repeating: 0, count: 10_000)]

  /// A message without its end.
  static let endless = Array(#"{"method":""#.utf8) + [UInt8](repeating: 0x78, count: 3 << 19)

  static let unfinished: [[UInt8]] = [
    Array(status.prefix(20)), listing, call("Sweep", "{}", #","more":true"#), upload,
    call("Plan", #"{"nodes":["many/1"]}"#), call("Status", "{}", #","oneway":true"#),
  ]

  /// A thousand calls that are wrong, or many, or never to be answered.
  static let pipelined: [UInt8] = (0..<1_000).flatMap { number in
    switch number % 8 {
    case 0: status
    case 1: call("Node", #"{"node":1}"#)
    case 2: call("Node", #"{"node":"many/\#(number)"}"#)
    case 3: call("NoSuchMethod")
    case 4: call("Status", "{}", #","upgrade":true"#)
    case 5: call("NoSuchMethod", "{}", #","oneway":true"#)
    case 6: call("Events", #"{"follow":true}"#)
    default: call("Node", #"{"node":"many/1"}"#, #","oneway":true"#)
    }
  }

  private static func call(
    _ method: String, _ parameters: String = "{}", _ flags: String = ""
  ) -> [UInt8] {
    let name = "io.cascaded.Control.\(method)"
    return Array(#"{"method":"\#(name)","parameters":\#(parameters)\#(flags)}"#.utf8) + [0]
  }
}
