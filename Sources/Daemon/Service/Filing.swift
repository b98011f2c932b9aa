internal import CascadeModel
internal import Store
internal import CascadeSystem
/// Files that lost their last edge, after the commits that let them go (DESIGN 8.8).
extension StoreService {
  /// Until nothing can be done now.
  @discardableResult
  func tendFiles() async throws -> FileWork {
    var work = FileWork()
    var asksAll = false
    if configuration.model.files.isEmpty { return work }
    do {
      while !Task.isCancelled {
        let retrying = retriesFiles
        let (part, pause) = try await onStore { try await writer.tendFiles(retrying: retrying) }
        retriesFiles = false
        asksAll = asksAll || retrying
        work.add(part)
        if !part.hasMore || !part.isProgress { break }
        if let pause { try await EventLoop.sleep(for: pause) }
      }
    } catch let error as SystemError {
      // The disk's trouble with files is none of the queue's.
      work.waiting.insert("\(error)")
    }
    report(work, ofAll: asksAll)
    return work
  }

  func unreferencedFiles() async throws -> UnreferencedFiles {
    let surroundings = configuration.surroundings
    return try await reader.read { try $0.unreferencedFiles(surroundings) }
  }

  /// Who did not ask all of them knows nothing of those that waited before.
  private func report(_ work: FileWork, ofAll asksAll: Bool) {
    for reason in work.refused.prefix(10) {
      tell(.warning, .fileLeft, "left where it is: \(reason.printable)", [(.reason, reason)])
    }
    for reason in work.waiting.subtracting(condition.filesWait).sorted() {
      tell(.warning, .fileLeft, "files wait: \(reason.printable)", [(.reason, reason)])
    }
    let waited = condition.filesWait
    condition.filesWait = asksAll ? work.waiting : waited.union(work.waiting)
    if !waited.isEmpty && condition.filesWait.isEmpty {
      tell(.notice, .recovered, "no files wait any more")
    }
    areFilesYoung = work.young > 0 || !asksAll && areFilesYoung
    let parts = [
      (work.moved, "let go"), (work.missing, "not there"), (work.kept, "named again"),
      (work.restored, "brought back"), (work.forgotten, "forgotten"),
    ]
    let text = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    if !text.isEmpty { tell(.info, .filesTended, "files: \(text)") }
  }
}
