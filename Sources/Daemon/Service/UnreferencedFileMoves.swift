internal import CascadeModel
internal import CascadeSystem
internal import CascadeStore
internal import SystemdService

/// Moves files that lost their last edge, after the commit that removed it.
extension StoreService {
  /// Works until nothing can be done at the moment.
  @discardableResult
  func moveUnreferencedFiles() async throws -> FileWork {
    var work = FileWork()
    var asksAll = false
    if configuration.model.files.isEmpty { return work }
    do {
      while !Task.isCancelled {
        let retrying = retriesFiles
        let (part, waiting, pause) = try await onStore {
          try await writer.tendFiles(retrying: retrying)
        }
        retriesFiles = false
        waitingFiles = waiting ?? waitingFiles
        asksAll = asksAll || retrying
        work.add(part)
        if !part.hasMore || !part.isProgress { break }
        if let pause { try await EventLoop.sleep(for: pause) }
      }
    } catch let error as SystemError {
      // A disk error of these files must not stop the queue.
      work.waiting.insert("\(error)")
    }
    report(work, ofAll: asksAll)
    return work
  }

  func unreferencedFiles() async throws -> UnreferencedFiles {
    let surroundings = configuration.surroundings
    return try await reader.read { try $0.unreferencedFiles(surroundings) }
  }

  /// Tries the files that wait again, at longer and longer intervals.
  func retryWaitingFiles() async {
    while (try? await filesMustWait.wait()) != nil {
      try? await EventLoop.sleep(for: fileBackoff.next())
      retriesFiles = true
      wakeUp()
    }
  }

  /// Reports the work. If not all waiting files were tried, the earlier reasons still count.
  private func report(_ work: FileWork, ofAll asksAll: Bool) {
    for reason in work.unmovable.prefix(10) {
      tell(.warning, .fileLeft, "not moved: \(reason.printable)", [(.reason, reason)])
    }
    for reason in work.waiting.subtracting(condition.filesWait).sorted() {
      tell(
        .warning, .fileLeft, "files cannot be moved yet: \(reason.printable)", [(.reason, reason)])
    }
    let waited = condition.filesWait
    condition.filesWait = asksAll ? work.waiting : waited.union(work.waiting)
    if condition.filesWait.isEmpty { fileBackoff = Backoff() } else { filesMustWait.ring() }
    if !waited.isEmpty && condition.filesWait.isEmpty {
      tell(.notice, .recovered, "all waiting files were moved")
    }
    hasTooYoungFiles = work.writtenRecently > 0 || !asksAll && hasTooYoungFiles
    let parts = [
      (work.moved, "moved to trash"), (work.missing, "missing"),
      (work.stillNamed, "referenced again"),
      (work.restored, "restored"), (work.deletedFromTrash, "deleted from trash"),
    ]
    let text = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    if !text.isEmpty { tell(.info, .filesTended, "files: \(text)") }
  }
}
