import CascadeSystem
import Glibc
import Testing

/// What a sweep writes leaves applications room on the disk. The disk here has 40 MiB, and the log
/// of an unlimited sweep would need more.
@Suite(.enabled(if: getuid() == 0, "only root can mount a file system"))
struct SmallDiskTests {
  @Worker @Test(arguments: ["none", "reader", "restart", "full", "full-restart"])
  func noCommitOfAnApplicationFails(scenario: String) throws {
    try SmallDiskTests.succeeds("small_disk.py", scenario)
  }

  /// A daemon that starts on a disk without a free byte answers, says so, and goes on by itself as
  /// soon as there is room.
  @Worker @Test(arguments: ["attached", "open", "new", "names", "names-open", "directory"])
  func startsOnAFullDisk(scenario: String) throws {
    try SmallDiskTests.succeeds("full_disk.py", scenario)
  }

  private static func succeeds(_ program: String, _ scenario: String) throws {
    let scratch = try Scratch()
    let disk = scratch.path("disk")
    _ = try Directory.openOrMake(disk)
    let mount = "mount -t tmpfs -o size=40m none \"$0\" && exec python3 -B \"$@\""
    let outcome = try run(
      [
        "/usr/bin/unshare", "-m", "/bin/sh", "-c", mount, disk,
        repositoryPath("Tests/Foreign/\(program)"), disk, Programs.cascaded,
        Programs.cascadectl, scenario,
      ], limit: .seconds(300))
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.error)")
  }
}
