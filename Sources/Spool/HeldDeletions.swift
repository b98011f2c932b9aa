package import CascadeModel
package import CascadeSystem

extension SpoolDirectory {
  /// What a held file deletes by itself: nodes, and whole collections.
  package func deletions(
    inHeld name: FileName, limit: Int
  ) throws -> (nodes: [Node], collections: [String]) {
    let next = try PreparedFile(name, in: parts.held).changes()
    var (nodes, collections): ([Node], [String]) = ([], [])
    while nodes.count < limit, let change = try next() {
      switch change {
      case .delete(let node, _): nodes.append(node)
      case .deleteAll(let collection): collections.append(collection)
      default: break
      }
    }
    return (nodes, collections)
  }
}
