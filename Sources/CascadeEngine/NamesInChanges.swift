package import CascadeModel
package import CascadeStore

extension StoreModel {
  /// What is wrong with the root of a file that a change names; nil if the model has it.
  package func problem(ofRoot root: String) -> String? {
    if files[root] != nil { return nil }
    let hint = nearest(root, in: files.keys.sorted()).map { ", did you mean \"\($0)\"?" }
    return "the model has no file root \"\(root)\"\(hint ?? "")"
  }

  /// Why no change may name this collection; nil if one may.
  package func problem(ofChanged name: String) -> String? {
    if let whole = typeNames[name] {
      return "\"\(name)\" is a type of \"\(whole)\": name that collection, and the type in `put`"
    }
    if allows(collection: name) { return nil }
    let hint = nearest(name, in: collectionNames).map { ", did you mean \"\($0)\"?" } ?? ""
    let advice = strict == nil ? "; `strict: false` in it allows others" : ""
    return "the model has no collection \"\(name)\" and is strict\(hint)\(advice)"
  }

  /// Refuses what no lease can hold: a lease by a wrong name would seem to keep something.
  package func refuse(unlessLeasable subject: Lease.Subject) throws(Rejection) {
    switch subject {
    case .collection(let name):
      if let problem = problem(ofChanged: name) { throw Rejection(.invalid, problem) }
    case .node(let node):
      let problem = problem(ofChanged: node.collection) ?? keyProblem(node)
      if let problem { throw Rejection(.invalid, problem, node: node) }
    }
  }
}
