import CascadeEngine
import CascadeModel
import Testing

/// Which root of a model is which of those that are remembered.
@Suite("Names of roots, and what is remembered")
struct RenamedRootsTests {
  /// The renames from what is known, each `name@path#inode` (`#unused`), where `there` says which inodes are where.
  private func renames(
    _ model: String, _ known: String, there: [String: Int64] = [:]
  ) throws -> [String: String] {
    let roots = known.split(separator: " ").map { text in
      let parts = text.split { "@#".contains($0) }.map(String.init)
      return KnownRoot(
        name: parts[0], path: parts.count > 1 ? parts[1] : nil,
        inode: parts.count > 2 ? Int64(parts[2]) : nil, isUsed: parts.last != "unused")
    }
    var names = Dictionary(uniqueKeysWithValues: roots.map { ($0.name, $0.name) })
    let model = try StoreModel(json5: Array("{ files: {\(model)} }".utf8))
    RenamedRoots(model, known: roots) { there[$0] }.apply { old, new in
      for (name, now) in names where now == old { names[name] = new }
    }
    return names.filter { $0.key != $0.value }
  }

  @Test("It is the same where its directory is")
  func directory() throws {
    #expect(try renames("b: '/x'", "a@/x#900", there: ["/x": 900]) == ["a": "b"])
    #expect(try renames("b: '/y'", "a@/x#900", there: ["/y": 900]) == ["a": "b"])
    #expect(try renames("b: '/x'", "a@/x#900", there: ["/x": 901]) == ["a": "b"])
    #expect(try renames("b: '/x'", "a@/x#900") == ["a": "b"])
    #expect(try renames("b: '/y'", "a@/x#900", there: ["/y": 901]).isEmpty)
  }

  @Test("Its name is its name where another directory is")
  func name() throws {
    #expect(try renames("a: '/y'", "a@/x#900", there: ["/y": 901]).isEmpty)
    #expect(try renames("a: '/y', b: '/x'", "a", there: ["/y": 901]).isEmpty)
  }

  @Test("The root of a file system is known by its path")
  func fileSystem() throws {
    let there: [String: Int64] = ["/x": 2, "/y": 2]
    #expect(try renames("c: '/x', b: '/y'", "a@/x#2 b@/y#2", there: there) == ["a": "c"])
    #expect(
      try renames("b: '/x', a: '/y'", "a@/x#2 b@/y#2", there: there) == ["a": "b", "b": "a"])
    #expect(try renames("a: '/z'", "a@/x#900 b@/y#2", there: ["/z": 2]).isEmpty)
  }

  @Test("Names may be swapped, and directories")
  func swapped() throws {
    let known = "a@/x#900 b@/y#901"
    #expect(
      try renames("a: '/y', b: '/x'", known, there: ["/x": 900, "/y": 901])
        == ["a": "b", "b": "a"])
    #expect(try renames("a: '/y', b: '/x'", known, there: ["/x": 901, "/y": 900]).isEmpty)
  }

  @Test("The model says what nothing else tells")
  func was() throws {
    #expect(try renames("b: { path: '/y', was: 'a' }", "a@/x#900") == ["a": "b"])
    #expect(try renames("b: { path: '/y', was: 'a' }, a: '/z'", "a@/x#900").isEmpty)
    #expect(try renames("b: { path: '/y', was: 'a' }", "a@/x#900 b@/y#901").isEmpty)
    let unused = try renames("b: { path: '/y', was: 'a' }", "a@/x#900 b@/y#901#unused")
    #expect(unused["a"] == "b")
  }
}
