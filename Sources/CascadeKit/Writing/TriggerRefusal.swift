internal import CascadeModel

extension Reason {
  /// What a trigger of Cascade's said when it refused a statement that the application ran by itself:
  /// the message of the SQLite error. nil if the message is not of such a trigger.
  public init?(sqliteMessage message: String) {
    guard let json = try? JSON.parse(Reason.object(in: message)), let reason = Reason(json) else {
      return nil
    }
    self = reason
  }

  private static func object(in message: String) -> String {
    message.firstIndex(of: "{").map { String(message[$0...]) } ?? ""
  }
}
