internal import PostgresBinding

/// What is asked for needs a part of the model that is stopped.
package struct StoppedPart: Error, CustomStringConvertible {
  package let description: String

  fileprivate init(_ name: String, _ why: String) { description = "\"\(name)\" is stopped: \(why)" }
}

extension StoreConnection {
  package func refuseStopped(_ collection: String) throws {
    if let why = binding.stopped.reasons[collection] { throw StoppedPart(collection, why) }
  }

  /// The same for a relationship of a collection.
  package func refuseStopped(_ name: String, of source: String) throws {
    let one = binding.stopped.relationships.first { $0.name == name && $0.source == source }
    if let one { throw StoppedPart(name, one.why) }
  }
}
