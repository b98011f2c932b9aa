import CascadeSystem
import Glibc
import Spool
import Testing

/// Directories of a spool that are no longer those that were opened.
@Suite struct ReplacedSpoolTests {
  private func move(_ old: String, _ new: String, in store: TestSpool) throws {
    let spool = try Directory.open("\(store.path)/spool")
    try spool.rename(FileName(old), to: spool, as: FileName(new))
  }

  @Test("A directory that was moved away is noticed, also by a spool that has rested")
  func moved() throws {
    let store = try TestSpool()
    #expect(try !store.spool.isReplaced)
    store.spool.rest()
    #expect(try !store.spool.isReplaced)
    try move("new", "old", in: store)
    #expect(try store.spool.isReplaced)
    #expect(throws: (any Error).self) { try store.spool.queue() }
  }

  @Test("A link to the directory that was moved away is refused")
  func link() throws {
    let store = try TestSpool()
    try move("new", "old", in: store)
    #expect(unsafe symlink("old", "\(store.path)/spool/new") == 0)
    #expect(throws: UnsafePath.self) { try store.spool.isReplaced }
  }
}
