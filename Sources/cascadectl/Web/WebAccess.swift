internal import CascadeModel
internal import CascadeSystem
internal import HTTPServer
internal import Synchronization

/// Who may use the page: a browser that has opened an address with a token, which can be done once.
/// From then on it sends a cookie.
///
/// A page of somebody else in the same browser may send requests here as well, with the cookie. So
/// the name of the host must be this machine's (a name that was made to resolve to 127.0.0.1 is
/// refused), and what says where it comes from must come from this page. What changes something
/// must say so.
final class WebAccess: Sendable {
  private struct Secrets {
    var token = ""
    var sessions: Set<String> = []
  }

  private let secrets = Mutex(Secrets())
  /// Cookies are shared by all ports of a host.
  private let cookieName: String

  init() throws {
    cookieName = "cascade-\(try WebAccess.random(4))"
  }

  /// Makes a token. An earlier one that was not used is no longer valid.
  func newToken() throws -> String {
    let token = try WebAccess.random(32)
    secrets.withLock { $0.token = token }
    return token
  }

  /// The response to a request that may not be answered, or to a token; nil for any other request.
  func refusal(of request: HTTPRequest) -> HTTPResponse? {
    guard WebAccess.isOwn(host: request.headers["host"]) else {
      return .plain(421, "this page is only for 127.0.0.1 and localhost")
    }
    guard isFromHere(request) else { return .plain(403, "the request comes from another page") }
    let hasSession = hasSession(request)
    if request.path == "/", request.method == "GET", let token = request.query["token"] {
      return hasSession ? .redirect() : redeem(token)
    }
    if !hasSession {
      return .plain(403, "open the address that cascadectl web has printed; it works once")
    }
    return nil
  }

  private func redeem(_ token: String) -> HTTPResponse {
    guard let session = try? WebAccess.random(32) else { return .plain(500, "no random numbers") }
    let isValid = secrets.withLock { secrets in
      guard !secrets.token.isEmpty, WebAccess.areSame(token, secrets.token) else { return false }
      secrets.token = ""
      secrets.sessions.insert(session)
      return true
    }
    if !isValid { return .plain(403, "this address was used, or is wrong: ask for another one") }
    return .redirect([
      ("Set-Cookie", "\(cookieName)=\(session); HttpOnly; SameSite=Strict; Path=/")
    ])
  }

  private func hasSession(_ request: HTTPRequest) -> Bool {
    let cookies = (request.headers["cookie"] ?? "").split(whereSeparator: { ";, ".contains($0) })
    let values = cookies.filter { $0.hasPrefix("\(cookieName)=") }
      .map { String($0.dropFirst(cookieName.utf8.count + 1)) }
    let sessions = secrets.withLock { $0.sessions }
    return values.contains { value in sessions.contains { WebAccess.areSame(value, $0) } }
  }

  // MARK: - Where a request comes from

  private static func isOwn(host: String?) -> Bool {
    guard let host else { return false }
    let parts = host.split(separator: ":", omittingEmptySubsequences: false)
    // Through a tunnel, the page has another port.
    return ["127.0.0.1", "localhost"].contains(parts[0].lowercased())
      && (parts.count == 1 || parts.count == 2 && UInt16(parts[1]) != nil)
  }

  private func isFromHere(_ request: HTTPRequest) -> Bool {
    let origin = request.headers["origin"]
    if let origin, origin != "http://\(request.headers["host"] ?? "")" { return false }
    if request.method != "GET" && request.method != "HEAD" && origin == nil { return false }
    guard let site = request.headers["sec-fetch-site"] else { return true }
    // A link to the page may be anywhere.
    let isLink = request.path == "/" && request.headers["sec-fetch-mode"] == "navigate"
    return site == "same-origin" || site == "none" || isLink && request.method == "GET"
  }

  // MARK: - Secrets

  private static func random(_ count: Int) throws -> String {
    try Process.randomBytes(count).map { byte in
      (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }.joined()
  }

  /// The time does not depend on where they differ.
  private static func areSame(_ one: String, _ other: String) -> Bool {
    let (one, other) = (Array(one.utf8), Array(other.utf8))
    if one.count != other.count { return false }
    return zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}

extension HTTPResponse {
  /// What every response says: nothing may be kept, framed, or loaded from elsewhere.
  static let safety = [
    ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"), ("X-Frame-Options", "DENY"),
    (
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        + "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    ),
  ]

  static func plain(_ status: UInt32, _ text: String) -> HTTPResponse {
    HTTPResponse(
      status, safety + [("Content-Type", "text/plain; charset=utf-8")],
      .bytes(Array("\(text)\n".utf8)))
  }

  static func json(_ status: UInt32, _ json: JSON) -> HTTPResponse {
    HTTPResponse(status, safety + [("Content-Type", "application/json")], .bytes(Array(json.utf8)))
  }

  /// To the page, without the token in its address.
  fileprivate static func redirect(_ headers: [(String, String)] = []) -> HTTPResponse {
    HTTPResponse(303, safety + headers + [("Location", "/")], .bytes([]))
  }
}
