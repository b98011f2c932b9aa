internal import CascadeModel
internal import CascadeVarlink

/// Why the daemon did not answer a question.
public enum AskError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The daemon is away, or its answer did not come.
  case unavailable(String)
  /// The daemon answered with an error: its name and the reason.
  case refused(name: String, reason: String)
  /// The answer cannot be read: the daemon is of another version.
  case unreadable(String)

  /// The reason in words.
  public var description: String {
    switch self {
    case .unavailable(let reason), .unreadable(let reason): reason
    case .refused(let name, let reason): "\(name): \(reason)"
    }
  }
}

extension AskError {
  init(_ error: VarlinkClientError) {
    guard case .refused(let error) = error else {
      self = .unavailable("\(error)")
      return
    }
    let name = error.name.split(separator: ".").last.map(String.init) ?? error.name
    let reason = ["reason", "what", "store"].lazy.compactMap { error.parameters[$0]?.string }
      .first { !$0.isEmpty }
    self = .refused(name: name, reason: reason ?? error.parameters.text)
  }
}
