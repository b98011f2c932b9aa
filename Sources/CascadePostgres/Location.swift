internal import CPostgreSQL

/// Where a database is: `postgresql:///music?host=/run/postgresql`.
package struct Location: Sendable {
  package let uri: String
  private let settings: [String: String]

  package static func isLocation(_ text: String) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }

  /// Throws a sentence if it is no location, or has a password, which everybody could read.
  package init(_ uri: String) throws(InvalidLocation) {
    self.uri = uri
    settings = try Location.parse(uri)
    if settings["password"] != nil {
      throw InvalidLocation(
        description: "a password does not belong into a model: use peer authentication, a "
          + "service file (?service=), ?passfile= or a certificate")
    }
  }

  package subscript(setting name: String) -> String? { settings[name] }

  private static func parse(_ uri: String) throws(InvalidLocation) -> [String: String] {
    var message: UnsafeMutablePointer<CChar>?
    guard let options = unsafe PQconninfoParse(uri, &message) else {
      defer { unsafe PQfreemem(message) }
      let text = unsafe message.map { unsafe String(cString: $0) } ?? "is no connection string"
      throw InvalidLocation(description: PostgresError.trimmed(text))
    }
    defer { unsafe PQconninfoFree(options) }
    var settings: [String: String] = [:]
    var index = 0
    while let keyword = unsafe options[index].keyword {
      if let value = unsafe options[index].val {
        settings[unsafe String(cString: keyword)] = unsafe String(cString: value)
      }
      index += 1
    }
    return settings
  }
}

package struct InvalidLocation: Error, CustomStringConvertible {
  package let description: String
}
