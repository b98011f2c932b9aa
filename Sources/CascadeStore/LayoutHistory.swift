/// How a store is taken over that another release has left, by the number of the layout of Cascade's own
/// tables in it. An engine has one history, and each release that changes its layout adds a step.
///
/// 1. A store says its number in the same place for ever, and so can be told by every version.
/// 2. The steps run in the transaction that attaches the store, so a store has all of them or none. That
///    is short: a step changes tables, and rewrites no rows.
/// 3. A store of a newer layout is left as it is. It can be detached, as one of any layout.
/// 4. A step that was released stays as it is. Where it uses statements of the present layout that a later
///    release changes, it gets their old text.
package struct LayoutHistory<Step: Sendable>: Sendable {
  /// The oldest layout that is taken over.
  private let oldest: Int64
  /// The first one brings a store from the oldest layout to the next.
  private let steps: [Step]

  package init(oldest: Int64, steps: [Step]) { (self.oldest, self.steps) = (oldest, steps) }

  /// The layout of this version.
  package var current: Int64 { oldest + Int64(steps.count) }

  /// What a store of the layout `found` lacks. `detaching` is the command that any version can use on it.
  package func steps(
    from found: Int64, detaching command: String
  ) throws(StoreError) -> ArraySlice<Step> {
    if oldest...current ~= found { return steps.dropFirst(Int(found - oldest)) }
    let writer = found > current ? "a newer" : "an older"
    throw StoreError(
      "\(writer) version of Cascade made the tables (layout \(found); this version knows \(oldest) to "
        + "\(current)), and nothing in them was changed: serve the store with that version, or begin "
        + "anew after `\(command)`, which removes what any version made, with managed objects, the "
        + "trash, notices, leases and plans")
  }
}
