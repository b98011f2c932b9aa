import CascadeSystem
import Glibc
import Testing

/// A package of somebody else's, and the sources of this one.
@Suite struct PackageTests {
  private static let root =
    "/" + "\(#filePath)".split(separator: "/").dropLast(3).joined(separator: "/")

  @Test(.enabled(if: isLong, "it takes long"))
  func aPackageOfItsOwnBuildsAndRuns() throws {
    let bin = program("cascaded").split(separator: "/").dropLast().joined(separator: "/")
    try run(
      "/usr/bin/env",
      ["BIN=/\(bin)", "python3", "\(PackageTests.root)/Tests/Foreign/kit_package.py"])
  }

  /// The sources are Swift of many kinds. Those with a mistake in a model are none of them.
  @Test func theMacroReadsEverySwiftFile() throws {
    let files = try run(
      "/usr/bin/find",
      ["\(PackageTests.root)/Sources", "\(PackageTests.root)/Tests", "-name", "*.swift"])
    let names = files.split(separator: "\n").map(String.init)
    #expect(names.count > 300)
    try run("/usr/bin/timeout", ["60", program("CascadeMacros-tool"), "expand"] + names)
  }
}
