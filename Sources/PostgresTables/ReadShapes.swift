package import CascadeEngine

/// The shapes of kept rows, each read once.
package struct ReadShapes {
  private let store: StoreConnection
  private var known: [String: KeptShape?] = [:]

  package init(_ store: StoreConnection) { self.store = store }

  /// Nil if it is not known what the number means.
  package mutating func columns(ofShape number: String) throws -> [KeptShape.Column]? {
    if let known = known[number] { return known?.columns }
    let shape = try KeptShapes(store).shape(number)
    known[number] = shape
    return shape?.columns
  }
}
