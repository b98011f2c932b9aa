package import CascadeModel
internal import CascadeStore

/// Where the model says that an edge lives which a change file adds or removes by its name.
package enum EdgePlace {
  /// In Cascade's own table. Manual edges are for names that the model does not place.
  case stored
  case placed(Relationship)
}

extension StoreModel {
  /// Whether some edges of the name from the collection live elsewhere than in Cascade's own table.
  fileprivate func places(_ name: String, from collection: String) -> Bool {
    relationships.contains {
      $0.name == name && $0.isPlaced && self.collection(of: $0.from) == collection
    }
  }
}

extension Relationship {
  fileprivate var isPlaced: Bool { if case .stored = edgeStorage { false } else { true } }

  /// For messages: `in the join table "song_tag"`.
  package var placeText: String {
    switch edgeStorage {
    case .stored: "in Cascade's own table"
    case .join(let table, _, _): "in the join table \"\(table)\""
    case .property(let path): "in \"\(path)\""
    case .column(let columns), .polymorphic(let columns, _):
      "in " + columns.map { "\"\($0)\"" }.joined(separator: ", ")
    }
  }
}

extension EdgeWriting {
  /// Where edges of the name live that lead from the node to these ends.
  func place(_ name: String, _ from: Node, _ to: [Destination]) throws -> EdgePlace {
    if !model.places(name, from: from.collection) { return .stored }
    let meant = try relationships(name, from)
    let places = try to.map { try place(name, from, $0, among: meant) }
    if let first = places.first {
      if Set(places).count > 1 {
        throw rejection(from, "the edges \"\(name)\" to these ends live in several places")
      }
      return first.map(EdgePlace.placed) ?? .stored
    }
    let placed = meant.filter(\.isPlaced)
    if placed.count < meant.count || placed.isEmpty { return .stored }
    if placed.count > 1 { throw severalPlaces(name, from) }
    return .placed(placed[0])
  }

  /// Those of the node's collection and of its type.
  private func relationships(_ name: String, _ from: Node) throws -> [Relationship] {
    let named = model.relationships.filter {
      $0.name == name && model.collection(of: $0.from) == from.collection
    }
    if named.allSatisfy({ $0.from == from.collection }) { return named }
    if try !exists(from) {
      throw rejection(
        from, "which \"\(name)\" is meant depends on its type, and it is not there: put it before")
    }
    let names = model.names(of: from.collection, type: try type(of: from))
    return named.filter { names.contains($0.from) }
  }

  /// Nil for an edge in Cascade's own table.
  private func place(
    _ name: String, _ from: Node, _ to: Destination, among meant: [Relationship]
  ) throws -> Relationship? {
    let leading = meant.filter { model.leads($0, to: to) }
    if leading.contains(where: { !$0.isPlaced }) { return nil }
    if leading.isEmpty {
      guard let other = meant.first(where: \.isPlaced), meant.allSatisfy(\.isPlaced) else {
        return nil
      }
      let ends = (other.to.collections + (other.to.root.map { [$0] } ?? []))
        .map { "\"\($0)\"" }.joined(separator: " or ")
      throw rejection(
        from, "\"\(name)\" lives \(other.placeText) and leads to \(ends), not to \(to.json.text)")
    }
    let own = leading.filter { $0.from == from.collection }
    let places = own.isEmpty ? leading : own
    if places.count > 1 { throw severalPlaces(name, from) }
    return places[0]
  }

  private func severalPlaces(_ name: String, _ from: Node) -> Rejection {
    rejection(
      from, "the model places \"\(name)\" in several places: write into the one that is meant")
  }

  func rejection(_ node: Node, _ message: String) -> Rejection {
    Rejection(.invalid, "\(node): \(message)", node: node)
  }
}
