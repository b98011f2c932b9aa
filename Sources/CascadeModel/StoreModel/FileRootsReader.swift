/// Reads `files`: the names of file roots, and where they are.
struct FileRootsReader {
  /// Roots may not overlap: a file would have two names, and be counted under each separately.
  func read(_ entry: ModelValue, into model: inout StoreModel) {
    for (name, entry) in entry.members() ?? [] {
      entry.checkName(name: name, of: "file root")
      guard let path = readPath(entry, of: name, &model.formerNames) else { continue }
      if let (other, _) = model.files.sorted(by: <).first(where: { overlap($0.value, path) }) {
        entry.addProblem("overlaps files.\(other): a file would have two names")
      }
      model.files[name] = path
    }
  }

  /// A path, or an object that also says what the root was called before.
  private func readPath(
    _ entry: ModelValue, of root: String, _ names: inout FormerNames
  ) -> String? {
    guard case .object = entry.json else { return entry.absolutePath() }
    guard let fields = Fields(entry, ["path", "was"]) else { return nil }
    fields["was"]?.readFormerName("a file root", of: root, into: &names.roots)
    return fields.required("path")?.absolutePath()
  }

  private func overlap(_ one: String, _ other: String) -> Bool {
    let (one, other) = (one + "/", other + "/")
    return one.hasPrefix(other) || other.hasPrefix(one)
  }
}
