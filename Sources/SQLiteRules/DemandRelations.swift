internal import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
internal import SQLiteTables

extension Demand {
  /// Whether the demand counts the destinations of this place's edges.
  func counts(destinationsOf relation: EdgeRelation) -> Bool {
    relation.name == constraint.outgoing && relation.source.collection == collection
  }

  func counts(sourcesOf relation: EdgeRelation) -> Bool {
    relation.name == constraint.incoming && relation.destination.collection == collection
  }
}
