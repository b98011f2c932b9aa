import CascadeModel
import CascadeStore
import CascadeSystem
import TestSupport

/// Files of a store under test, in roots below a directory that is deleted with the test.
final class TendedFiles {
  let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    _ = try Directory.openOrMake(scratch.path("spool"))
  }

  /// Does the daemon's work on files until nothing more is to do.
  @discardableResult
  func tend(_ store: any StoreUnderTest) throws -> FileWork {
    let paths = StorePaths(store: store.place, spool: scratch.path("spool"))
    var work = FileWork()
    repeat {
      work.add(
        try store.writer.processFiles(paths, at: SystemClock.wall(), budget: .seconds(1)))
    } while work.hasMore
    return work
  }

  func write(_ paths: String...) throws { try scratch.directory.write(paths) }

  func isThere(_ path: String) -> Bool { scratch.directory.text(path) != nil }
}
