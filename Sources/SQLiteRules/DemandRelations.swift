internal import CascadeModel
internal import CascadeSQLite
internal import CascadePlanning
internal import SQLiteBinding

extension Demand {
  /// Whether the demand counts the nodes at this end of the relation's edges.
  func counts(_ end: EdgeEnd, of relation: EdgeRelation) -> Bool {
    relation.name == (end == .destination ? constraint.outgoing : constraint.incoming)
      && relation[end.other].collection == collection
  }
}
