import CascadeSystem
import SystemdService
import Testing

@Suite("The log")
struct LogTests {
  @Test("knows the journal by its stream, and not by the variable alone")
  func sink() throws {
    let pair = try UnixSocket.pair()
    let status = try pair.first.status()
    let stream = "\(status.device):\(status.inode)"
    #expect(LogSink.choose(stderr: status, journalStream: stream) == .journal)
    #expect(LogSink.choose(stderr: status, journalStream: "1:2") == .prefixed)
    #expect(LogSink.choose(stderr: status, journalStream: nil) == .prefixed)
    #expect(LogSink.choose(stderr: nil, journalStream: stream) == .plain)
    let file = try FileStatus.of("/etc/passwd")
    #expect(LogSink.choose(stderr: file, journalStream: stream) == .plain)
  }
}
