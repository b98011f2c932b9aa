internal import Model
internal import Store
internal import System

/// Files that lost their last edge, after the commits that let them go (DESIGN 8.8).
extension StoreService {
  /// Until nothing can be done now.
  @discardableResult
  func tendFiles() async throws -> FileWork {
    var work = FileWork()
    if configuration.model.files.isEmpty { return work }
    do {
      while !Task.isCancelled {
        let retrying = retriesFiles
        let (part, pause) = try await onStore { try await writer.tendFiles(retrying: retrying) }
        retriesFiles = false
        work.add(part)
        if !part.hasMore || !part.isProgress { break }
        if let pause { try await EventLoop.sleep(for: pause) }
      }
    } catch let error as SystemError {
      // The disk's trouble with files is none of the queue's.
      work.waiting.insert("\(error)")
    }
    report(work)
    return work
  }

  func unreferencedFiles() async throws -> UnreferencedFiles {
    let surroundings = configuration.surroundings
    return try await reader.read { try $0.unreferencedFiles(surroundings) }
  }

  private func report(_ work: FileWork) {
    for reason in work.refused.prefix(10) {
      tell(.warning, .fileLeft, "left where it is: \(reason.printable)", [(.reason, reason)])
    }
    for reason in work.waiting.subtracting(filesWait).sorted() {
      tell(.warning, .fileLeft, "files wait: \(reason.printable)", [(.reason, reason)])
    }
    filesWait = work.waiting
    let parts = [
      (work.moved, "let go"), (work.missing, "not there"), (work.kept, "named again"),
      (work.restored, "brought back"), (work.forgotten, "forgotten"),
    ]
    let text = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    if !text.isEmpty { tell(.info, .filesTended, "files: \(text)") }
  }
}
