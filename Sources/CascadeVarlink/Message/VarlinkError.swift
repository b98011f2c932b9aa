package import CascadeModel

/// An error as it is sent over the socket: a name within an interface, and the parameters that the
/// interface describes for it.
package struct VarlinkError: Error, Hashable, Sendable, CustomStringConvertible {
  package let name: String
  package let parameters: JSON

  package init(_ name: String, _ parameters: JSON = [:]) {
    self.name = name
    self.parameters = parameters
  }

  package var description: String {
    parameters.object?.isEmpty == false ? "\(name) \(parameters.text)" : name
  }
}

/// The errors that every service has.
extension VarlinkError {
  package static func interfaceNotFound(_ interface: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InterfaceNotFound", ["interface": .string(interface)])
  }

  package static func methodNotFound(_ method: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotFound", ["method": .string(method)])
  }

  package static func methodNotImplemented(_ method: String) -> VarlinkError {
    VarlinkError("org.varlink.service.MethodNotImplemented", ["method": .string(method)])
  }

  package static func invalidParameter(_ parameter: String) -> VarlinkError {
    VarlinkError("org.varlink.service.InvalidParameter", ["parameter": .string(parameter)])
  }

  package static let permissionDenied = VarlinkError("org.varlink.service.PermissionDenied")
  package static let expectedMore = VarlinkError("org.varlink.service.ExpectedMore")
  package static let expectedUpgrade = VarlinkError("org.varlink.service.ExpectedUpgrade")
}
