/// A request that has arrived whole.
package struct HTTPRequest: Sendable {
  package let method: String
  package let path: String
  /// The members of the query, without their percent signs.
  package let query: [String: String]
  /// By names in lower case. A header that came twice has both values, joined by a comma.
  package let headers: [String: String]
  package let body: [UInt8]
}

package struct HTTPResponse {
  package enum Body {
    case bytes([UInt8])
    /// Parts that come one after the other. The function blocks until there is one, and returns nil
    /// at the end.
    case stream(() -> [UInt8]?)
  }

  package var status: UInt32
  package var headers: [(String, String)]
  package var body: Body

  package init(_ status: UInt32, _ headers: [(String, String)] = [], _ body: Body) {
    self.status = status
    self.headers = headers
    self.body = body
  }
}
