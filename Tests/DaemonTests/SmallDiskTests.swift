import CascadeSystem
import Glibc
import Testing

/// What a sweep writes leaves applications room on the disk. The disk here has 40 MiB, and the log
/// of an unlimited sweep would need more.
@Suite(.enabled(if: getuid() == 0, "only root can mount a file system"))
struct SmallDiskTests {
  @Worker @Test(arguments: ["none", "reader", "restart", "full", "full-restart"])
  func noCommitOfAnApplicationFails(scenario: String) throws {
    let scratch = try Scratch()
    let disk = scratch.path("disk")
    _ = try Directory.openOrMake(disk)
    let mount = "mount -t tmpfs -o size=40m none \"$0\" && exec python3 -B \"$@\""
    let outcome = try run(
      [
        "/usr/bin/unshare", "-m", "/bin/sh", "-c", mount, disk,
        repositoryPath("Tests/Foreign/small_disk.py"), disk, Programs.cascaded,
        Programs.cascadectl, scenario,
      ], limit: .seconds(300))
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.error)")
  }
}
