internal import CascadeModel
internal import CascadeSQLite

/// Thrown when more would be deleted than the hold limit allows. Nothing is deleted until an
/// operator approves (DESIGN 8.4).
package struct HeldPlan: Error {
  package let id: String
  package let deletedCount: Int
  package let byCollection: [String: Int]
  /// The number of references that would be removed although no watch saw their destinations go.
  package let lostCount: Int
  /// Covers everything that would go. An approval is valid for this checksum only.
  let checksum: Int64

  /// The id that all sweeps share.
  static let sweep = ""
}
