package import CascadeModel
package import CascadeVarlink
internal import SystemdService

/// An interface and the code of its methods.
package struct Interface: Sendable {
  /// Returns the parameters of the last reply. The parameters of the call have the described shape.
  /// The task is cancelled if the client leaves.
  package typealias Handler = @EventLoopActor @Sendable (Call) async throws -> JSON

  package let description: Description
  private let handlers: [String: Handler]

  /// A call of a method without a handler is answered with "not implemented".
  package init(
    _ text: String, methods handlers: [String: Handler]
  ) throws(DescriptionError) {
    description = try Description.parse(text)
    self.handlers = handlers
    for name in handlers.keys where description.methods[name] == nil {
      throw DescriptionError(line: 0, reason: "the description has no method '\(name)'")
    }
  }

  /// Calls the handler of the method if the call has the described shape.
  @EventLoopActor
  func answer(_ call: Call, method name: String) async throws -> JSON {
    guard let method = description.methods[name] else {
      throw VarlinkError.methodNotFound(call.method)
    }
    if let bad = description.mismatch(of: call.parameters, with: method.parameters) {
      throw VarlinkError.invalidParameter(bad)
    }
    guard let handler = handlers[name] else {
      throw VarlinkError.methodNotImplemented(call.method)
    }
    let reply = try await handler(call)
    assertDescribed(reply, method.reply, name)
    return reply
  }

  /// An undescribed reply is an error in this program. Debug builds check for it, so that tests
  /// find it.
  func assertDescribed(_ reply: JSON, _ fields: [Description.Field], _ name: String) {
    assert(
      description.mismatch(of: reply, with: fields) == nil,
      "\(name) replies with an undescribed '\(description.mismatch(of: reply, with: fields)!)'")
  }
}
