import StoreDefinition
import StoreFixtures
import CascadeModel
import CascadeStore
import SQLiteStore
import Testing

/// All nine rules, in every legal combination.
@Suite("Rules")
struct RuleTests {
  /// Of 8, 32 and 256 at most one, of 4, 16, 64 and 128 at most one, and notices as you like.
  static let legal: [Rules] = [0, 8, 32, 256].flatMap { ofSource in
    [0, 4, 16, 64, 128].flatMap { ofDestination in
      (0...3).map { Rules(rawValue: ofSource + ofDestination + $0) }
    }
  }

  @Test("Of 512 sets of rules, 80 are legal")
  func legality() {
    let legal = (0..<512).map { Rules(rawValue: $0) }.filter { $0.conflict == nil }
    #expect(Set(legal) == Set(RuleTests.legal))
    #expect(legal.count == 80)
  }

  @Test(
    "The source's deletion takes the destination by 8 and 32, and 256 refuses it", arguments: legal)
  func sourceGoes(rules: Rules) throws {
    let store = try TestStore()
    try store.run("A B A-\(rules.rawValue)>B")
    if rules.contains(256) { return #expect(try store.refusals("!A") == ["denied A"]) }
    let follows = !rules.isDisjoint(with: [8, 32])
    let receipt = try store.run("!A")
    #expect(receipt.deleted.letters == (follows ? "A B" : "A"))
    #expect(receipt.notices == (rules.contains(1) && !follows ? 1 : 0))
    #expect(try store.graph() == "")
  }

  @Test(
    "The destination's deletion takes the source by 4 and 16, and 128 refuses it", arguments: legal)
  func destinationGoes(rules: Rules) throws {
    let store = try TestStore()
    try store.run("A B A-\(rules.rawValue)>B")
    if rules.contains(128) { return #expect(try store.refusals("!B") == ["denied B"]) }
    let follows = !rules.isDisjoint(with: [4, 16])
    let receipt = try store.run("!B")
    #expect(receipt.deleted.letters == (follows ? "A B" : "B"))
    #expect(receipt.notices == (rules.contains(2) && !follows ? 1 : 0))
    #expect(try store.graph() == "")
  }

  @Test("Beside another source only 8 takes the destination", arguments: legal)
  func secondSource(rules: Rules) throws {
    if rules.contains(256) { return }
    let store = try TestStore()
    try store.run("A B C A-\(rules.rawValue)>B C-0>B")
    #expect(try store.gone("!A") == (rules.contains(8) ? "A B" : "A"))
  }

  @Test("Beside another destination only 4 takes the source", arguments: legal)
  func secondDestination(rules: Rules) throws {
    if rules.contains(128) { return }
    let store = try TestStore()
    try store.run("A B C A-\(rules.rawValue)>B A-0>C")
    #expect(try store.gone("!B") == (rules.contains(4) ? "A B" : "B"))
  }

  @Test("A declared edge does what a manual one does", arguments: legal)
  func declared(rules: Rules) throws {
    let (manual, declared) = (try TestStore(), try TestStore())
    try manual.run("A B A-\(rules.rawValue)>B")
    try declared.run("A{\(rules.rawValue)>B} B")
    for script in ["!A", "!B"] {
      #expect(try outcome(manual, script) == outcome(declared, script))
    }
  }

  private func outcome(_ store: TestStore, _ script: String) throws -> [String] {
    do {
      let receipt = try store.run(script)
      return [receipt.deleted.letters, "\(receipt.notices)"]
    } catch let rejection as Rejection {
      return rejection.reasons.compactMap(\.node).map(\.letters)
    }
  }

  /// Graphs in letters, what is deleted, and what goes.
  static let maps: [(graph: String, deletion: String, gone: String)] = [
    ("A-8>B B-8>C C-8>D", "!B", "B C D"),
    ("A-4>B B-4>C C-4>D", "!C", "A B C"),
    ("A-8>B A-8>C B-8>D C-8>D", "!A", "A B C D"),
    ("A-8>B A-8>C B-32>D C-32>D", "!B", "B"),
    ("A-8>B A-8>C B-32>D C-32>D", "!A", "A B C D"),
    ("A-8>B B-32>D C-32>D D-8>E", "!A", "A B"),
    ("A-8>B B-32>D C-32>D D-8>E", "!A !C", "A B C D E"),
    ("A-12>B B-12>C C-12>D", "!C", "A B C D"),
    ("A-16>B A-16>C D-8>B D-8>C", "!D", "A B C D"),
    ("A-16>B A-16>C D-8>B D-0>C", "!D", "B D"),
    ("A-16>B A-16>C A-16x>D", "!D", "A D"),
    ("A-32>B B-8>C C-32>D E-0>D", "!A", "A B C"),
    ("A-8>B B-32>A C-32>A", "!C", "C"),
    ("A-32>B B-32>A", "!A", "A B"),
    ("A-64>B C-8>B", "!C", "B C"),
    ("A-48>B C-32>B A-16>D", "!A", "A"),
    ("A-8>B B-128>C A-8>C", "!A", "A B C"),
    ("A-8>B C-128>B A-8>C", "!A", "A B C"),
    ("A-256>B C-8>A C-8>B", "!C", "A B C"),
    ("A-32>C A-32>D B-32>C B-8>D", "!A", "A"),
    ("A-32>C A-32>D B-32>C B-8>D", "!B", "B D"),
  ]

  @Test("What goes, in letters", arguments: maps)
  func map(graph: String, deletion: String, gone: String) throws {
    let store = try TestStore()
    let nodes = Set(graph.filter { $0.isUppercase }).map(String.init).sorted()
    let edges = graph.split(separator: " ")
    try store.run(nodes.joined(separator: " ") + " " + graph)
    #expect(edges.count == (try store.edges().count))
    #expect(try store.gone(deletion) == gone)
    let left = nodes.filter { !gone.contains($0) }
    #expect(try store.alive() == left.joined(separator: " "))
    let kept = edges.filter { edge in !gone.contains { edge.contains($0) && $0 != " " } }
    #expect(try store.graph() == kept.sorted().joined(separator: " "))
  }

  @Test("The order in which things were written changes nothing", arguments: maps)
  func order(graph: String, deletion: String, gone: String) throws {
    let store = try TestStore()
    let nodes = Set(graph.filter { $0.isUppercase }).map(String.init).sorted()
    let words = graph.split(separator: " ").map(String.init) + nodes
    try store.run(words.reversed().joined(separator: " "))
    let deletions = deletion.split(separator: " ").reversed()
    #expect(try store.gone(deletions.joined(separator: " ")) == gone)
  }
}
