internal import CMicrohttpd
internal import Glibc

package enum HTTPServerError: Error, CustomStringConvertible {
  case noLibrary
  /// The port is taken, or may not be used.
  case system(CInt)

  package var description: String {
    switch self {
    case .noLibrary:
      return "\(CASCADE_HTTP_LIBRARY) is not installed (in Debian, the package libmicrohttpd12)"
    case .system(let code):
      guard let text = unsafe strerror(code) else { return "error \(code)" }
      return unsafe String(cString: text)
    }
  }
}

/// Answers HTTP requests of this machine. libmicrohttpd reads and writes; each connection has a
/// thread on which the handler may block.
///
/// The server lives as long as the process.
@safe
package final class HTTPServer: Sendable {
  package typealias Handler = @Sendable (HTTPRequest) -> HTTPResponse

  fileprivate let handler: Handler

  /// The longest body of a request.
  fileprivate static let longestBody = 64 << 10

  private init(_ handler: @escaping Handler) { self.handler = handler }

  /// Listens on a port, or on a free one for 0, and returns its number.
  package static func start(
    port: UInt16, _ handler: @escaping Handler
  ) throws(HTTPServerError) -> UInt16 {
    guard cascade_http_load() else { throw .noLibrary }
    let server = HTTPServer(handler)
    let context = unsafe Unmanaged.passRetained(server).toOpaque()
    errno = 0
    guard let daemon = unsafe cascade_http_start(port, handle, complete, context) else {
      throw .system(errno)
    }
    return unsafe cascade_http_port(daemon)
  }

  fileprivate func answer(_ incoming: Incoming, _ connection: OpaquePointer) -> MHD_Result {
    if incoming.isTooLong {
      let text = "the request is too long\n"
      return unsafe send(HTTPResponse(413, [], .bytes(Array(text.utf8))), connection)
    }
    return unsafe send(handler(incoming.request), connection)
  }

  private func send(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
    guard let made = unsafe make(response.body) else { return cascade_http_no }
    for (name, value) in response.headers {
      unsafe cascade_http_header(made, name, value)
    }
    return unsafe cascade_http_send(connection, response.status, made)
  }

  private func make(_ body: HTTPResponse.Body) -> OpaquePointer? {
    switch body {
    case .bytes(var bytes):
      return unsafe bytes.withUnsafeMutableBytes {
        unsafe cascade_http_copy($0.count, $0.baseAddress)
      }
    case .stream(let next):
      let context = unsafe Unmanaged.passRetained(Outgoing(next)).toOpaque()
      return unsafe cascade_http_stream(16 << 10, readPart, context, releaseStream)
    }
  }
}

/// A request while it arrives.
private final class Incoming {
  private let method: String
  private let path: String
  private let headers: [String: String]
  private let query: [String: String]
  private var body: [UInt8] = []
  private(set) var isTooLong = false

  init(_ connection: OpaquePointer, _ path: String, _ method: String) {
    self.method = method
    self.path = path
    headers = unsafe values(of: connection, cascade_http_headers, isCaseless: true)
    query = unsafe values(of: connection, cascade_http_query, isCaseless: false)
  }

  func add(_ bytes: UnsafeRawBufferPointer) {
    if body.count + bytes.count > HTTPServer.longestBody { isTooLong = true }
    if !isTooLong { unsafe body.append(contentsOf: bytes) }
  }

  var request: HTTPRequest {
    HTTPRequest(method: method, path: path, query: query, headers: headers, body: body)
  }
}

/// The body of a response while it is sent.
private final class Outgoing {
  private let next: () -> [UInt8]?
  private var rest: ArraySlice<UInt8> = []

  init(_ next: @escaping () -> [UInt8]?) { self.next = next }

  /// Copies the next bytes, and returns how many; nil at the end.
  func read(into buffer: UnsafeMutableRawBufferPointer) -> Int? {
    while rest.isEmpty {
      guard let part = next() else { return nil }
      rest = part[...]
    }
    let part = rest.prefix(buffer.count)
    unsafe buffer.copyBytes(from: part)
    rest = rest.dropFirst(part.count)
    return part.count
  }
}

private final class Values {
  var values: [String: String] = [:]
  let isCaseless: Bool
  init(isCaseless: Bool) { self.isCaseless = isCaseless }
}

private func values(
  of connection: OpaquePointer, _ kind: MHD_ValueKind, isCaseless: Bool
) -> [String: String] {
  let values = Values(isCaseless: isCaseless)
  unsafe cascade_http_values(
    connection, kind,
    { context, _, name, value in
      let values = unsafe Unmanaged<Values>.fromOpaque(context!).takeUnretainedValue()
      guard let name = unsafe name else { return cascade_http_yes }
      let text = unsafe String(cString: name)
      let key = values.isCaseless ? text.lowercased() : text
      let new = unsafe value.map { unsafe String(cString: $0) } ?? ""
      values.values[key] = values.values[key].map { "\($0), \(new)" } ?? new
      return cascade_http_yes
    }, Unmanaged.passUnretained(values).toOpaque())
  return values.values
}

// MARK: - Callbacks of libmicrohttpd

/// It is called with the head of a request, then with each part of its body, then once more.
private func handle(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ url: UnsafePointer<CChar>?, _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?,
  _ data: UnsafePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
  guard let context = unsafe context, let connection = unsafe connection, let url = unsafe url,
    let method = unsafe method, let size = unsafe size, let state = unsafe state
  else { return cascade_http_no }
  guard let known = unsafe state.pointee else {
    let incoming = unsafe Incoming(
      connection, String(cString: url), String(cString: method))
    unsafe state.pointee = Unmanaged.passRetained(incoming).toOpaque()
    return cascade_http_yes
  }
  let incoming = unsafe Unmanaged<Incoming>.fromOpaque(known).takeUnretainedValue()
  if unsafe size.pointee > 0 {
    unsafe incoming.add(UnsafeRawBufferPointer(start: data, count: size.pointee))
    unsafe size.pointee = 0
    return cascade_http_yes
  }
  let server = unsafe Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
  return unsafe server.answer(incoming, connection)
}

private func complete(
  _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
  _ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
  guard let state = unsafe state, let known = unsafe state.pointee else { return }
  unsafe Unmanaged<Incoming>.fromOpaque(known).release()
  unsafe state.pointee = nil
}

private func readPart(
  _ context: UnsafeMutableRawPointer?, _ position: UInt64, _ buffer: UnsafeMutablePointer<CChar>?,
  _ size: Int
) -> Int {
  guard let context = unsafe context else { return cascade_http_end }
  let outgoing = unsafe Unmanaged<Outgoing>.fromOpaque(context).takeUnretainedValue()
  let target = unsafe UnsafeMutableRawBufferPointer(start: buffer, count: size)
  return unsafe outgoing.read(into: target) ?? cascade_http_end
}

private func releaseStream(_ context: UnsafeMutableRawPointer?) {
  if let context = unsafe context { unsafe Unmanaged<Outgoing>.fromOpaque(context).release() }
}
