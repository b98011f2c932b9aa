internal import CascadeModel
package import CascadeSystem

/// Finds change files by their id, which may differ from their name.
extension SpoolDirectory {
  /// Where a file is that was not applied.
  package enum State: Sendable {
    case waiting(FileName)
    case held(FileName)
    /// With the text of its reason file.
    case rejected(FileName, reasons: [UInt8])
  }

  /// The state of the file with this id; nil if the spool has none. If several files have the id,
  /// the one that waits is told.
  package func state(ofId id: String) throws -> State? {
    if let name = try name(ofId: id, in: parts.incoming) { return .waiting(name) }
    if let name = try name(ofId: id, in: parts.held) { return .held(name) }
    for name in try namesLike(id, rejectedNames()) {
      guard let reasons = reasons(of: name), self.id(inReasons: reasons) == id else { continue }
      return .rejected(name, reasons: reasons)
    }
    return nil
  }

  /// A file that cannot be read any more has its name for an id.
  package func id(ofHeld name: FileName) -> String {
    (try? PreparedFile(name, in: parts.held))?.id ?? name.description
  }

  private func id(inReasons reasons: [UInt8]) -> String? {
    try? JSON.parse(reasons, as: .json)["id"]?.string
  }

  private func name(ofId id: String, in directory: borrowing Directory) throws -> FileName? {
    for name in try namesLike(id, directory.names().filter { !$0.isHidden }) {
      if (try? PreparedFile(name, in: directory))?.id == id { return name }
    }
    return nil
  }

  /// The names that a file with this id probably has; if there are none, the first thousand names.
  private func namesLike(_ id: String, _ names: [FileName]) -> [FileName] {
    let likely = names.filter { [id, "\(id).json", "\(id).ndjson"].contains($0.description) }
    return likely.isEmpty ? Array(names.sorted().prefix(1_000)) : likely
  }
}
