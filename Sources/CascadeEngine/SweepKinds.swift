package import CascadeModel

/// What a list of sweep kinds asks for.

extension SweepKind {
  package var sweepsEdges: Bool {
    ![.trash, .files, .unreachable, .unreferenced, .expired].contains(self)
  }
}

extension [SweepKind] {
  /// Whether whole tables are scanned for references to nothing.
  package var scansTables: Bool { include(.dangling) }

  /// Whether a part of the sweep looks at all nodes of a collection.
  package var lookThroughTables: Bool {
    scansTables || sweepsUnreachable || include(.unreferenced)
  }

  /// Whether files are searched that no edge names.
  package var sweepsFiles: Bool { include(.files) }

  package var deletesTrash: Bool { include(.trash) }

  package var cascades: Bool { include(.cascade) }

  package var counts: Bool { include(.refcount) }

  package var readsJournal: Bool { cascades || counts }

  /// The rules that are followed. A sweep of one kind leaves the other kind's rules alone. Any
  /// other sweep follows all rules to the end.
  package var followedRules: Rules {
    if scansTables || cascades == counts { return .all }
    return cascades ? Rules.all.subtracting(.counting) : Rules.all.subtracting(.cascading)
  }

  /// The file of a held plan of such a sweep. No file name has a slash.
  package var planFile: String { "/\(map(\.rawValue).joined(separator: " "))" }

  /// Whether unreachable nodes are searched. This is a sweep of its own, after the others, because
  /// what the others delete reaches nothing.
  package var sweepsUnreachable: Bool { include(.unreachable) }

  /// Without roots nothing is reached, and nothing is deleted.
  package func sweepsUnreachable(from model: StoreModel) -> Bool {
    sweepsUnreachable && !model.roots.isEmpty
  }

  /// Whether unreferenced nodes are searched. `all` does so only if the model schedules it.
  package func sweepsUnreferenced(of model: StoreModel) -> Bool {
    contains(.unreferenced) || contains(.all) && model.schedule(of: .unreferenced) != .never
  }

  /// Whether rows go because of their age. That is done by jobs, beside the rest of the sweep.
  package func expire(_ model: StoreModel) -> Bool { include(.expired) && !model.ages.isEmpty }

  package func cover(_ kinds: [SweepKind]) -> Bool { kinds.allSatisfy(include) }

  package init(planFile file: String) {
    self = file.dropFirst().split(separator: " ").compactMap { SweepKind(rawValue: String($0)) }
    if isEmpty { self = [.dangling] }
  }

  /// The code of these kinds in `cascade_meta`.
  package var code: Int64 {
    reduce(0) { $0 | 1 << Int64(SweepKind.allCases.firstIndex(of: $1)!) }
  }

  package init(code: Int64) {
    self = SweepKind.allCases.enumerated().filter { code >> Int64($0.offset) & 1 == 1 }
      .map(\.element)
  }
}
