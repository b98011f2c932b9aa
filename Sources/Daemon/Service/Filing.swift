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
    remembers()
    return try await reader.read { try $0.unreferencedFiles(surroundings) }
  }

  private func report(_ work: FileWork) {
    let path = configuration.path
    for reason in work.refused.prefix(10) {
      Log.write(
        .warning, "\(path): left where it is: \(reason.printable)", fields: fields,
        messageID: .fileLeft)
    }
    for reason in work.waiting.subtracting(filesWait).sorted() {
      Log.write(
        .warning, "\(path): files wait: \(reason.printable)", fields: fields, messageID: .fileLeft)
    }
    filesWait = work.waiting
    let parts = [
      (work.moved, "let go"), (work.missing, "not there"), (work.kept, "named again"),
      (work.restored, "brought back"), (work.forgotten, "forgotten"),
    ]
    let text = parts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
    if text.isEmpty { return }
    Log.write(.info, "\(path): files: \(text)", fields: fields, messageID: .filesTended)
  }
}

extension LogMessageID {
  static let filesTended = LogMessageID("5d0a7be1c3924f6fa1e8d27b90c46e13")
  static let fileLeft = LogMessageID("b86f24d90e7a4c53972d1f0ac85be3d4")
}
