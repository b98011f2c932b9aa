internal import CascadeKit
internal import CascadeModel
internal import CascadeSystem
internal import CascadeVarlink
internal import Glibc
internal import HTTPServer

/// What the page is made of: its files, answers of the daemon, and what happens now.
///
/// A method of the protocol that only reads is `GET /api/METHOD?parameters=JSON`, one that changes
/// something is `POST /api/METHOD` with the parameters in the body.
struct WebPage: Sendable {
  private let access: WebAccess
  private let isReadOnly: Bool
  private let connect: @Sendable () throws -> ControlClient

  private static let reading: Set = [
    "Status", "Node", "Nodes", "Edges", "CountEdges", "Plan", "HeldPlan", "Why", "Graph", "Batches",
    "Notices", "Jobs", "Protections",
    "Spool", "Check", "Events", "Leases",
  ]
  private static let changing: Set = [
    "Approve", "Reject", "Cancel", "Undo", "Sweep", "Retry", "Drop", "Pause", "Resume", "Check",
  ]

  init(
    _ access: WebAccess, isReadOnly: Bool, _ connect: @escaping @Sendable () throws -> ControlClient
  ) {
    self.access = access
    self.isReadOnly = isReadOnly
    self.connect = connect
  }

  func answer(_ request: HTTPRequest) -> HTTPResponse {
    if let refusal = access.refusal(of: request) { return refusal }
    switch request.method {
    case "GET", "HEAD": return get(request)
    case "POST" where isReadOnly: return .plain(403, "this page is read-only")
    case "POST": return post(request)
    default: return .plain(405, "GET or POST")
    }
  }

  private func get(_ request: HTTPRequest) -> HTTPResponse {
    if let file = WebPage.file(request.path) { return file }
    if request.path == "/api/live" { return live() }
    guard let method = WebPage.method(request, in: WebPage.reading) else {
      return .plain(404, "there is nothing here")
    }
    let parameters = request.query["parameters"].map { Array($0.utf8) } ?? Array("{}".utf8)
    if method == "Check", WebPage.parse(parameters)?["repair"]?.bool == true {
      return .plain(405, "to repair is to change: POST")
    }
    return call(method, parameters)
  }

  private func post(_ request: HTTPRequest) -> HTTPResponse {
    guard let method = WebPage.method(request, in: WebPage.changing) else {
      return .plain(404, "there is nothing here")
    }
    // A form of another page cannot send this type.
    guard request.headers["content-type"] == "application/json" else {
      return .plain(415, "application/json is expected")
    }
    return call(method, request.body)
  }

  private static func method(_ request: HTTPRequest, in names: Set<String>) -> String? {
    guard request.path.hasPrefix("/api/") else { return nil }
    let name = String(request.path.dropFirst("/api/".count))
    return names.contains(name) ? name : nil
  }

  private static func parse(_ bytes: [UInt8]) -> JSON? { try? JSON.parse(bytes, as: .json) }

  // MARK: - The daemon

  private func call(_ method: String, _ text: [UInt8]) -> HTTPResponse {
    guard case .object(let fields) = WebPage.parse(text) else {
      return .plain(400, "the parameters are not a JSON object")
    }
    do {
      var client = try connect()
      let parameters = JSON.object(fields.filter { $0.name != "store" })
      if let store = fields.first(where: { $0.name == "store" })?.value.string {
        client.store = store
      }
      return .json(200, try client.call(method, parameters))
    } catch let error as VarlinkClientError {
      return WebPage.failure(Failure(error))
    } catch let error as Failure {
      return WebPage.failure(error)
    } catch {
      return WebPage.failure(Failure("\(error)", EX_SOFTWARE))
    }
  }

  private static func failure(_ failure: Failure) -> HTTPResponse {
    .json(
      failure.status == EX_TEMPFAIL ? 503 : 409,
      ["error": .string(failure.text), "status": .integer(Int64(failure.status))])
  }

  private func live() -> HTTPResponse {
    let stream = WebLive(isReadOnly: isReadOnly, connect)
    return HTTPResponse(
      200, HTTPResponse.safety + [("Content-Type", "text/event-stream")], .stream(stream.next))
  }

  // MARK: - Files

  private static func file(_ path: String) -> HTTPResponse? {
    let (type, bytes): (String, [UInt8])
    switch path {
    case "/": (type, bytes) = ("text/html", PackageResources.index_html)
    case "/style.css": (type, bytes) = ("text/css", PackageResources.style_css)
    case "/app.js": (type, bytes) = ("text/javascript", PackageResources.app_js)
    case "/views.js": (type, bytes) = ("text/javascript", PackageResources.views_js)
    case "/explain.js": (type, bytes) = ("text/javascript", PackageResources.explain_js)
    case "/picture.js": (type, bytes) = ("text/javascript", PackageResources.picture_js)
    default: return nil
    }
    return HTTPResponse(
      200, HTTPResponse.safety + [("Content-Type", "\(type); charset=utf-8")], .bytes(bytes))
  }
}
