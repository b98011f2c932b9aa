package import CascadeModel

/// A call as it was received.
package struct Request: Sendable {
  package let method: String
  /// An object.
  package let parameters: JSON
  package private(set) var oneway = false
  package private(set) var more = false
  package private(set) var upgrade = false

  /// nil if the message is not a call. It cannot be answered then, and the connection must be
  /// closed.
  package init?(_ frame: [UInt8]) {
    guard let message = try? JSON.parse(frame, as: .json), let members = message.object,
      let method = message["method"]?.string
    else { return nil }
    self.method = method
    guard let parameters = message.parameters else { return nil }
    self.parameters = parameters
    for member in members where !accept(member) { return nil }
    if [oneway, more, upgrade].count(where: { $0 }) > 1 { return nil }
  }

  /// Names with a dot are extensions of other vendors and are ignored.
  private mutating func accept(_ member: JSON.Field) -> Bool {
    switch member.name {
    case "method", "parameters": true
    case "oneway": set(&oneway, member.value)
    case "more": set(&more, member.value)
    case "upgrade": set(&upgrade, member.value)
    default: member.name.contains(".")
    }
  }

  private func set(_ flag: inout Bool, _ value: JSON) -> Bool {
    guard let value = value.bool else { return false }
    flag = value
    return true
  }
}
