import CascadeModel
import CascadeSystem
import Glibc
import Testing

/// `web`: who may use the page, and the page in a browser.
@Suite struct WebTests {
  private static func script(_ name: String) -> String {
    let tests = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
    return "/\(tests)/Foreign/\(name)"
  }

  private static let environment = ["PATH=/usr/bin:/bin", "HOME=/tmp"]

  /// The page, served by a process of its own, and its address.
  private static func serve(
    _ store: TestStore, _ options: [String] = []
  ) throws -> (Running, address: String) {
    let input = try FileDescriptor.open("/dev/null")
    let web = try Running(
      [Programs.cascadectl, "--store", store.path, "web"] + options, input: input)
    return (web, try #require(try web.lines(1).first))
  }

  @Worker @Test(arguments: [[], ["--read-only"]])
  func answersOnlyWhoHasTheTokenAndComesFromItself(options: [String]) throws {
    let store = try Library.store()
    let (web, address) = try WebTests.serve(store, options)
    #expect(address.hasPrefix("http://127.0.0.1:") && address.contains("/?token="))
    let outcome = try run(
      ["/usr/bin/python3", "-B", WebTests.script("page_access.py"), address]
        + options.map { String($0.dropFirst(2)) }, environment: WebTests.environment)
    #expect(outcome.output == "all as it should be\n", "\(outcome.error)")
    #expect(try store.state() == "ok")
    _ = web
  }

  @Worker @Test func tellsWhatIsWrongWithTheCommandLine() throws {
    let store = try Library.store()
    #expect(try store.ctl("web", "--port", "70000").status == 64)
    #expect(try store.ctl("web", "extra").status == 64)
    let (web, address) = try WebTests.serve(store)
    let port = try #require(address.split(separator: "/")[1].split(separator: ":").last)
    let second = try store.ctl("web", "--port", "\(port)")
    #expect(second.status == 69)
    #expect(second.error.contains("cannot serve on 127.0.0.1:\(port)"))
    _ = web
    try store.end()
    #expect(try store.ctl("web").status == 75)
  }

  private static let library = "/usr/lib/x86_64-linux-gnu/libmicrohttpd.so.12"

  /// The library is loaded by this command alone, and hidden by a mount that only its process sees.
  @Worker @Test(.enabled(if: Process.userIdentifier == 0 && FileStatus.realPath(library) != nil))
  func saysWhichLibraryIsMissing() throws {
    let store = try Library.store()
    let hidden =
      "mount --bind /dev/null \(WebTests.library) && exec \(Programs.cascadectl) "
      + "--store \(store.path)"
    func withoutLibrary(_ command: String) throws -> Outcome {
      try run(["/usr/bin/unshare", "-m", "/bin/sh", "-c", "\(hidden) \(command)"])
    }
    let web = try withoutLibrary("web")
    #expect(web.status == EX_UNAVAILABLE)
    #expect(web.error.contains("libmicrohttpd.so.12 is not installed"), "\(web.error)")
    #expect(try withoutLibrary("status").status == 0)
  }

  /// Long, and only where there is a browser.
  static let isLong = Process.environment("CASCADE_LONG") != nil

  @Worker
  @Test(
    .enabled(if: isLong && FileStatus.realPath("/usr/bin/chromedriver") != nil),
    arguments: ["views", "acts", "lives", "keyboard", "narrow", "read_only", "hostile"])
  func isUsedInABrowser(what: String) throws {
    try WebTests.use(try Library.store(), what)
  }

  @Worker @Test(.enabled(if: isLong && FileStatus.realPath("/usr/bin/chromedriver") != nil))
  func approvesInABrowser() throws {
    try WebTests.use(
      try Library.store(more: "limits: { hold: { deletes: 1, share: 0 } },"), "approves")
  }

  @Worker
  @Test(.enabled(if: isLong && FileStatus.realPath("/usr/bin/chromedriver") != nil))
  func asksTheChosenOfSeveralStoresInABrowser() throws {
    let host = try Host()
    for store in ["one", "two"] { try host.model(store) }
    try host.start()
    try host.wait(for: "two", toBe: "ok")
    _ = try host.ctl(of: "two", "apply", "-", input: #"{"changes": [{"put": ["a", "1"]}]}"#)
    try WebTests.use(host.socket, "several")
  }

  private static func use(_ store: TestStore, _ what: String) throws {
    try use(store.path, what, ["\(store.identifier)"])
  }

  /// Of a store, or of the daemon behind a socket.
  private static func use(_ target: String, _ what: String, _ more: [String] = []) throws {
    let outcome = try run(
      ["/usr/bin/python3", "-B", script("page.py"), Programs.cascadectl, target, what] + more,
      environment: environment, limit: .seconds(300))
    #expect(outcome.status == 0, "\(outcome.error)")
  }
}
