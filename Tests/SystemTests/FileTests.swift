import CascadeSystem
import Glibc
import TestSupport
import Testing

@Suite("Files and directories")
struct FileTests {
  @Test("keeps names that are not UTF-8, in byte order")
  func hostileNames() throws {
    let scratch = try Scratch()
    let names = [[0xFF, 0x01], [0x0A], [0xC3, 0xA9], [0x41, 0x80]].map(FileName.init(bytes:))
    for name in names { _ = try scratch.directory.file(name, .createNew) }
    #expect(try scratch.directory.names().sorted() == names.sorted { $0.bytes[0] < $1.bytes[0] })
    for name in names {
      try scratch.directory.rename(name, to: scratch.directory, as: name + ".x")
      #expect(try scratch.directory.remove(name + ".x"))
      #expect(try !scratch.directory.remove(name + ".x"))
    }
    #expect(try scratch.directory.names().isEmpty)
  }

  @Test(
    "knows what is no name of an entry",
    arguments: ["", ".", "..", "a/b", "/", "a\u{0}"] as [FileName])
  func invalidNames(name: FileName) {
    #expect(!name.isValid)
  }

  @Test("never follows a symbolic link of an entry")
  func symbolicLinks() throws {
    let directory = try Directory.open("/proc/self")
    #expect(try directory.status(of: "exe")?.kind == .symbolicLink)
    #expect(throws: SystemError(code: ELOOP, call: "open", path: "/proc/self/exe")) {
      _ = try directory.file("exe")
    }
    #expect(throws: SystemError(code: ENOTDIR, call: "open", path: "/proc/self/root")) {
      _ = try directory.directory("root")
    }
  }

  @Test("does not block on a FIFO")
  func fifo() throws {
    let scratch = try Scratch()
    let made = unsafe mkfifo(scratch.path("fifo"), 0o600)
    #expect(made == 0)
    #expect(try scratch.directory.file("fifo").status().kind == .other)
  }

  @Test("reads whole files up to a limit", arguments: [0, 1, 4095, 4096, 100_000])
  func readWhole(size: Int) throws {
    let scratch = try Scratch()
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    let file = try scratch.directory.file("file", .createNew)
    try file.writeAll(bytes)
    try file.sync()
    #expect(try file.status().size == size)
    #expect(try scratch.directory.file("file").readWhole(limit: size) == bytes)
    if size > 0 { #expect(try scratch.directory.file("file").readWhole(limit: size - 1) == nil) }
  }

  @Test("reads what has no size, up to the limit")
  func readUnsized() throws {
    let proc = try Directory.open("/proc/self")
    #expect(try proc.file("maps").readWhole(limit: 1 << 20)?.isEmpty == false)
    #expect(try proc.file("maps").readWhole(limit: 100) == nil)
  }

  @Test("says what failed, and where")
  func errors() throws {
    let scratch = try Scratch()
    #expect {
      _ = try scratch.directory.file("none")
    } throws: {
      "\($0)" == "\(scratch.path("none")): open: No such file or directory"
    }
    #expect(throws: SystemError.self) { _ = try FileDescriptor.open("/etc/passwd\u{0}.txt") }
  }

  @Test("gives a lock to one owner at a time")
  func lock() throws {
    let scratch = try Scratch()
    do {
      let first = try FileLock.take("lock", in: scratch.directory)
      let second = try FileLock.take(scratch.path("lock"))
      let owners = (first != nil, second != nil)
      #expect(owners == (true, false))
    }
    let third = try FileLock.take(scratch.path("lock"))
    let isFree = third != nil
    #expect(isFree)
  }
}

@Suite("Sockets")
struct SocketTests {
  @Test("takes the place of a socket that nobody answers, and of nothing else")
  func stale() throws {
    let scratch = try Scratch()
    let path = scratch.path("control")
    do { _ = try UnixSocket.listen(path) }
    let listener = try UnixSocket.listen(path)
    #expect(throws: SystemError(code: EADDRINUSE, call: "bind", path: path)) {
      _ = try UnixSocket.listen(path)
    }
    try scratch.write("file", "precious")
    #expect(throws: SystemError.self) { _ = try UnixSocket.listen(scratch.path("file")) }
    #expect(try scratch.directory.file("file").readWhole(limit: 100) == Array("precious".utf8))
    #expect(try listener.status().kind == .socket)
  }

  @Test("makes the socket for the owner and the group")
  func mode() throws {
    let scratch = try Scratch()
    _ = try UnixSocket.listen(scratch.path("control"))
    #expect(try FileStatus.of(scratch.path("control"))?.mode == 0o660)
  }

  @Test("listens at a path of any length")
  func longPath() throws {
    let scratch = try Scratch()
    let deep = FileName(String(repeating: "d", count: 200))
    try scratch.directory.makeDirectory(deep)
    let path = scratch.path("\(deep)/control")
    let listener = try UnixSocket.listen(path)
    let client = try UnixSocket.connect(path)
    #expect(try client.peer().pid == Process.identifier)
    let isThere = try listener.accept() != nil
    #expect(isThere)
  }
}
