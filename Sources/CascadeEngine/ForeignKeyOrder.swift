/// Sorts children before their parents, as far as they do not refer to each other in cycles.
package func childrenBeforeParents<Item: Equatable>(
  _ items: [Item], _ refers: (_ child: Item, _ parent: Item) -> Bool
) -> [Item] {
  var rest = items
  var ordered: [Item] = []
  while !rest.isEmpty {
    let next = rest.firstIndex { parent in
      !rest.contains { $0 != parent && refers($0, parent) }
    }
    ordered.append(rest.remove(at: next ?? 0))
  }
  return ordered
}

/// The order in which a job deletes: of those that foreign keys tie to others of its plan, each before what
/// it refers to. What no key ties is not among them: it goes as in a sweep, behind what it follows.
package func tiedByForeignKeys<Item: Equatable>(
  _ planned: [Item], _ refers: (_ child: Item, _ parent: Item) -> Bool
) -> [Item] {
  let tied = planned.filter { one in planned.contains { refers(one, $0) || refers($0, one) } }
  return childrenBeforeParents(tied, refers)
}
