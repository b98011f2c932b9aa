package import CascadeModel
internal import CascadeSystem

/// The trash of a root may be older than the database, if that was attached anew or restored. The
/// batch numbers in it are not given again, so that no file meets one of an earlier database.
extension StoreModel {
  package var lastBatchInTrash: Int64 {
    files.values.compactMap { try? FileRoot.lastBatch(below: $0) }.max() ?? 0
  }
}

extension FileRoot {
  /// A number that counting would not reach is not a batch of ours.
  private static let mostBatches: Int64 = 1 << 53

  fileprivate static func lastBatch(below root: String) throws -> Int64 {
    let entries = try Directory.open(root).directory(FileName(trash)).entries()
    var last: Int64 = 0
    while let entry = try entries.next() {
      if let batch = Int64("\(entry.name)"), batch < mostBatches { last = max(last, batch) }
    }
    return last
  }
}
