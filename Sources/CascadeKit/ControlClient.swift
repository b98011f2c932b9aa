package import CascadeModel
package import CascadeVarlink

/// A connection to a daemon. Each call blocks until the daemon has answered it.
package struct ControlClient: ~Copyable {
  private var client: VarlinkClient
  /// The store that calls are about, needed where the daemon serves several.
  package var store: String?

  private static let interface = "io.cascaded.Control"
  /// The size of one part of an upload. A part in base64, with the call around it, stays below the
  /// daemon's limit of 1 MiB for a message.
  package static let partSize = 512 << 10

  package init(socket: String, store: String? = nil) throws(VarlinkClientError) {
    client = try VarlinkClient.connect(socket)
    self.store = store
  }

  package mutating func call(
    _ method: String, _ parameters: JSON = [:], timeout: Duration? = nil
  ) throws(VarlinkClientError) -> JSON {
    try client.call(
      "\(ControlClient.interface).\(method)", complete(parameters, method), timeout: timeout)
  }

  /// Makes a call with several replies, which `next` returns.
  package mutating func start(
    _ method: String, _ parameters: JSON = [:]
  ) throws(VarlinkClientError) {
    try client.start("\(ControlClient.interface).\(method)", complete(parameters, method))
  }

  /// The next reply, or nil after the last one.
  package mutating func next(timeout: Duration? = nil) throws(VarlinkClientError) -> JSON? {
    try client.next(timeout: timeout)
  }

  /// Calls `body` with each reply as it arrives.
  package mutating func stream(
    _ method: String, _ parameters: JSON = [:], body: (JSON) throws -> Void
  ) throws {
    try start(method, parameters)
    while let reply = try client.next() { try body(reply) }
  }

  private static let ofAllStores: Set = ["Reload", "Metrics"]

  private func complete(_ parameters: JSON, _ method: String) -> JSON {
    guard let store, !ControlClient.ofAllStores.contains(method),
      case .object(let fields) = parameters
    else {
      return parameters
    }
    return .object(fields + [JSON.Field("store", .string(store))])
  }

  /// Submits a change file part by part and waits for its receipt. `next` returns the next part,
  /// and an empty one at the end.
  package mutating func apply(
    name: String, parts next: () throws -> [UInt8]
  ) throws -> JSON {
    var upload: JSON = .null
    repeat {
      let part = try next()
      if part.isEmpty && !upload.isNull { break }
      let reply = try call(
        "Upload",
        [
          "upload": upload, "name": .string(name), "data": .string(Base64.encode(part[...])),
        ])
      upload = reply["upload"] ?? .null
      if part.isEmpty { break }
    } while true
    let reply = try call("Apply", ["upload": upload, "name": .string(name)])
    return reply["receipt"] ?? .null
  }
}
