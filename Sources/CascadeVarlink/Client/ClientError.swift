package import CascadeSystem

/// Why a call has no reply.
package enum VarlinkClientError: Error, Hashable, CustomStringConvertible {
  /// The service answered with an error.
  case refused(VarlinkError)
  /// The service is not there, or must not be asked.
  case system(SystemError)
  case timedOut
  /// The service hung up before its answer.
  case disconnected
  /// What came is no Varlink.
  case malformed

  package var description: String {
    switch self {
    case .refused(let error): "\(error)"
    case .system(let error): "\(error)"
    case .timedOut: "no answer in time"
    case .disconnected: "the service hung up"
    case .malformed: "the service sent an answer that is no Varlink"
    }
  }
}
