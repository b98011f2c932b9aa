/// A trigger of the application on one of its tables.
package struct AppTrigger {
  package enum Event: String { case delete, update }

  package let name: String
  package let event: Event
  /// Whether it is called for each row before the event: if it returns NULL, the row stays as it is.
  package let mayKeepRows: Bool

  package init(name: String, event: Event, mayKeepRows: Bool) {
    (self.name, self.event, self.mayKeepRows) = (name, event, mayKeepRows)
  }
}
