package import CascadeSystem

/// The reason why a call has no reply.
package enum VarlinkClientError: Error, Hashable, CustomStringConvertible {
  /// The service replied with an error.
  case refused(VarlinkError)
  /// A system call failed, for example because the service does not run or access is denied.
  case system(SystemError)
  case timedOut
  /// The service closed the connection before it replied.
  case disconnected
  /// The service sent something that is not a Varlink message.
  case malformed

  package var description: String {
    switch self {
    case .refused(let error): "\(error)"
    case .system(let error): "\(error)"
    case .timedOut: "the service did not reply in time"
    case .disconnected: "the service closed the connection"
    case .malformed: "the service sent a reply that is not Varlink"
    }
  }
}
