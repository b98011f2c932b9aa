internal import CPostgreSQL

/// Where a database is: `postgresql:///music?host=/run/postgresql`. The parameter `dialect` is
/// Cascade's own.
package struct Location: Sendable {
  /// For libpq.
  package let uri: String
  package let dialect: Dialect
  private let settings: [String: String]

  package static func isLocation(_ text: String) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }

  /// Throws a sentence if it is no location, or has a password, which everybody could read.
  package init(_ text: String) throws(InvalidLocation) {
    (uri, dialect) = try Location.split(text)
    settings = try Location.parse(uri)
    if settings["password"] != nil {
      throw InvalidLocation(
        description: "a password does not belong into a model: use peer authentication, a "
          + "service file (?service=), ?passfile= or a certificate")
    }
  }

  package subscript(setting name: String) -> String? { settings[name] }

  /// Takes the dialect out.
  private static func split(_ text: String) throws(InvalidLocation) -> (String, Dialect) {
    guard let mark = text.firstIndex(of: "?") else { return (text, .fast) }
    let key = "dialect="
    let parameters = text[text.index(after: mark)...].split(separator: "&")
    let rest = parameters.filter { !$0.hasPrefix(key) }
    let names = parameters.filter { $0.hasPrefix(key) }.map { String($0.dropFirst(key.count)) }
    let dialect = names.isEmpty ? .fast : Dialect(rawValue: names[0])
    guard let dialect, names.count < 2 else {
      let known = Dialect.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
      throw InvalidLocation(description: "the dialect is \(known), and is given once")
    }
    let uri = text[..<mark] + (rest.isEmpty ? "" : "?" + rest.joined(separator: "&"))
    return (String(uri), dialect)
  }

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
