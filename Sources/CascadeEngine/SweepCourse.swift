package import CascadeModel
package import CascadeStore

/// The order of a sweep's parts. An engine carries out each of them.
///
/// 1. First what is told by the journal and by references to nothing. Where each of two kinds left something
///    that the other has to delete first, neither can go first, but both together can.
/// 2. Then what no root reaches, and then what nothing refers to: what goes before reaches nothing.
/// 3. What went last may have denied something that an earlier part found. So all is repeated until nothing
///    more goes.
/// 4. What is cut short runs again as a whole.
package protocol SweepCourse: AnyObject {
  var model: StoreModel { get }
  /// What was done so far.
  var result: SweepResult { get set }

  func sweepCauses(of kinds: [SweepKind]) throws
  /// Whether each kind left something to the other, and both have read the journal equally far.
  func leaveEachOther(_ kinds: [SweepKind]) throws -> Bool
  func sweepBothKinds() throws
  func sweepUnreachable() throws
  func sweepUnreferenced() throws

  /// Whether nodes stay only because something denied their deletion.
  var haveDeniedNodes: Bool { get throws }
  func isThere(_ node: Node) throws -> Bool
}

extension SweepCourse {
  package func sweepNodes(of kinds: [SweepKind]) throws {
    var before: Int
    repeat {
      try sweepCauses(of: kinds)
      if try !result.isCutShort && leaveEachOther(kinds) { try sweepTogether() }
      before = result.goneCount
      try sweepWhatIsLeft(kinds)
    } while try result.goneCount > before && !result.isCutShort && haveDeniedNodes
  }

  /// A node that stays denied was told when it was first denied.
  private func sweepTogether() throws {
    let before = result
    try dropDenialsOfGoneNodes()
    try sweepBothKinds()
    let isNews =
      result.goneCount > before.goneCount || result.isCutShort || result.outcome == .held
    if !isNews { result = before }
  }

  private func sweepWhatIsLeft(_ kinds: [SweepKind]) throws {
    if kinds.sweepsUnreachable(from: model) && !result.isCutShort {
      try dropDenialsOfGoneNodes()
      try sweepUnreachable()
    }
    if kinds.sweepsUnreferenced(of: model) && !result.isCutShort { try sweepUnreferenced() }
  }

  /// Another part may have released what one part denied.
  package func dropDenialsOfGoneNodes() throws {
    try result.dropDenialsOfGoneNodes { try isThere($0) }
  }
}
