internal import CPostgreSQL
internal import Glibc

/// A server among those that a location names.
package struct Host: Hashable, Sendable, CustomStringConvertible {
  /// A name, a directory of sockets, or empty for libpq's default.
  let name: String
  /// The address that the name has, or that the location gives; empty if libpq needs none.
  let address: String
  let port: String

  package var description: String {
    let place = name.isEmpty ? address : name
    return port.isEmpty ? place : "\(place):\(port)"
  }

  /// For libpq.
  var settings: [(String, String)] {
    [("host", name), ("hostaddr", address), ("port", port)]
  }

  /// The servers of a connection that has begun. A name may have several addresses, each of which
  /// is one.
  static func all(_ connection: OpaquePointer) -> [Host] {
    guard let options = unsafe PQconninfo(connection) else { return [] }
    defer { unsafe PQconninfoFree(options) }
    var lists: [String: [String]] = [:]
    var index = 0
    while let keyword = unsafe options[index].keyword {
      let name = unsafe String(cString: keyword)
      if ["host", "hostaddr", "port"].contains(name), let value = unsafe options[index].val {
        lists[name] = list(unsafe String(cString: value))
      }
      index += 1
    }
    return all(lists["host"] ?? [], lists["hostaddr"] ?? [], lists["port"] ?? [])
  }

  private static func list(_ text: String) -> [String] {
    text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
  }

  /// One port is that of all.
  private static func all(_ names: [String], _ addresses: [String], _ ports: [String]) -> [Host] {
    (0..<max(names.count, addresses.count)).flatMap { index in
      let name = index < names.count ? names[index] : ""
      let address = index < addresses.count ? addresses[index] : ""
      let port = ports.count > index ? ports[index] : ports.first ?? ""
      let found = address.isEmpty && isResolved(name) ? self.addresses(of: name) : [address]
      return found.map { Host(name: name, address: $0, port: port) }
    }
  }

  /// Whether a name has addresses: it is no directory of sockets and no abstract one.
  private static func isResolved(_ name: String) -> Bool {
    !name.isEmpty && !name.hasPrefix("/") && !name.hasPrefix("@")
  }

  /// One empty address if there is none, so that libpq says why.
  private static func addresses(of name: String) -> [String] {
    var hints = unsafe addrinfo()
    unsafe hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
    var first: UnsafeMutablePointer<addrinfo>?
    guard unsafe getaddrinfo(name, nil, &hints, &first) == 0 else { return [""] }
    defer { unsafe freeaddrinfo(first) }
    var all: [String] = []
    var next = unsafe first
    while let entry = unsafe next {
      var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
      let isKnown = unsafe getnameinfo(
        entry.pointee.ai_addr, entry.pointee.ai_addrlen, &text, socklen_t(text.count), nil, 0,
        NI_NUMERICHOST)
      if isKnown == 0 {
        let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        all.append(String(decoding: bytes, as: UTF8.self))
      }
      unsafe next = entry.pointee.ai_next
    }
    return all.isEmpty ? [""] : all
  }
}
