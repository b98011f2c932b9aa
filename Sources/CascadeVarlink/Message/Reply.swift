package import CascadeModel

/// A reply to a call, or one of several replies.
package struct Reply {
  package var parameters: JSON
  package var error: String?
  package var continues = false

  package init(_ parameters: JSON, continues: Bool = false) {
    self.parameters = parameters
    self.continues = continues
  }

  package init(_ error: VarlinkError) {
    parameters = error.parameters
    self.error = error.name
  }

  /// nil if the message is not a reply.
  package init?(_ frame: [UInt8]) {
    guard let message = try? JSON.parse(frame, around: 8), message.object != nil,
      let parameters = message.parameters
    else { return nil }
    self.parameters = parameters
    error = message["error"]?.string
    continues = message["continues"]?.bool ?? false
  }

  package var frame: [UInt8] {
    var members: [JSON.Field] = []
    if let error { members.append(JSON.Field("error", .string(error))) }
    members.append(JSON.Field("parameters", parameters))
    if continues { members.append(JSON.Field("continues", true)) }
    return JSON.object(members).utf8 + [0]
  }
}

extension JSON {
  /// The parameters of a message. Absent, null and {} are the same. nil if they are not an object.
  var parameters: JSON? {
    let parameters = self["parameters"] ?? .null
    if parameters.isNull { return .object([]) }
    return parameters.object == nil ? Optional.none : parameters
  }
}
