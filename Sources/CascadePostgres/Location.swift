internal import CPostgreSQL

/// Where a database is: `postgresql:///music?host=/run/postgresql`. Some parameters are Cascade's own
/// (`Parameter`).
package struct Location: Sendable {
  /// For libpq.
  package let uri: String
  package let dialect: Dialect
  /// The application names of the standbys that could be promoted. Empty: those that replay.
  package let standbys: [String]
  /// Whether triggers may notify also where transactions can be prepared, because none is.
  package let notifies: Bool
  private let settings: [String: String]

  /// The server never sees these.
  private enum Parameter: String, CaseIterable { case dialect, standby, notify }

  package static func isLocation(_ text: String) -> Bool {
    text.hasPrefix("postgresql://") || text.hasPrefix("postgres://")
  }

  /// Throws a sentence if it is no location, or has a password, which everybody could read.
  package init(_ text: String) throws(InvalidLocation) {
    let own: [Parameter: String]
    (uri, own) = try Location.split(text)
    dialect = try own[.dialect].map(Location.dialect) ?? .fast
    standbys = try own[.standby].map(Location.names) ?? []
    notifies = try own[.notify].map(Location.isOn) ?? false
    settings = try Location.parse(uri)
    if settings["password"] != nil {
      throw InvalidLocation(
        description: "a password does not belong into a model: use peer authentication, a "
          + "service file (?service=), ?passfile= or a certificate")
    }
  }

  package subscript(setting name: String) -> String? { settings[name] }

  /// Takes Cascade's own parameters out.
  private static func split(
    _ text: String
  ) throws(InvalidLocation) -> (uri: String, own: [Parameter: String]) {
    guard let mark = text.firstIndex(of: "?") else { return (text, [:]) }
    var own: [Parameter: String] = [:]
    var others: [Substring] = []
    for parameter in text[text.index(after: mark)...].split(separator: "&") {
      let parts = parameter.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard let name = Parameter(rawValue: String(parts[0])) else {
        others.append(parameter)
        continue
      }
      let value = parts.count == 2 ? decoded(parts[1]) : ""
      if own.updateValue(value, forKey: name) != nil {
        throw InvalidLocation(description: "\"\(name)\" is given twice")
      }
    }
    return (text[..<mark] + (others.isEmpty ? "" : "?" + others.joined(separator: "&")), own)
  }

  /// A percent sign stands for a byte, as in all of a URI.
  private static func decoded(_ text: Substring) -> String {
    var bytes: [UInt8] = []
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      let code = rest.prefix(2)
      if byte == UInt8(ascii: "%"), code.count == 2,
        let value = UInt8(String(decoding: code, as: UTF8.self), radix: 16)
      {
        bytes.append(value)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func dialect(_ text: String) throws(InvalidLocation) -> Dialect {
    if let dialect = Dialect(rawValue: text) { return dialect }
    let known = Dialect.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
    throw InvalidLocation(description: "the dialect is \(known)")
  }

  private static func names(_ text: String) throws(InvalidLocation) -> [String] {
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    if !names.contains("") { return names }
    throw InvalidLocation(
      description: "\"standby\" lists the application names of standbys, with commas between")
  }

  private static func isOn(_ text: String) throws(InvalidLocation) -> Bool {
    if text == "on" { return true }
    throw InvalidLocation(
      description: "\"notify\" is \"on\", or is left out: the daemon knows by itself")
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
