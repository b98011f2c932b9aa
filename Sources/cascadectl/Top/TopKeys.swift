internal import CascadeModel

/// A key of a terminal.
enum TopKey: Hashable {
  case up, down, pageUp, pageDown, enter, escape, backspace, interrupt, suspend
  case character(Character)

  /// The keys in what a terminal sent. An escape character alone is the key.
  static func parse(_ bytes: [UInt8]) -> [TopKey] {
    var keys: [TopKey] = []
    var rest = String(decoding: bytes, as: UTF8.self)[...]
    while !rest.isEmpty {
      if let (text, key) = sequences.first(where: { rest.hasPrefix($0.0) }) {
        keys.append(key)
        rest = rest.dropFirst(text.count)
      } else if rest.hasPrefix("\u{1B}[") {
        // A sequence of another key ends with a letter or a tilde.
        rest = rest.dropFirst(2).drop { !$0.isLetter && $0 != "~" }.dropFirst()
      } else {
        keys.append(key(rest.removeFirst()))
      }
    }
    return keys
  }

  private static let sequences: [(String, TopKey)] = [
    ("\u{1B}[A", .up), ("\u{1B}OA", .up), ("\u{1B}[B", .down), ("\u{1B}OB", .down),
    ("\u{1B}[5~", .pageUp), ("\u{1B}[6~", .pageDown),
  ]

  private static func key(_ character: Character) -> TopKey {
    switch character {
    case "\r", "\n", "\r\n": .enter
    case "\u{1B}": .escape
    case "\u{7F}", "\u{8}": .backspace
    case "\u{3}", "\u{4}": .interrupt
    case "\u{1A}": .suspend
    default: .character(character)
    }
  }
}

/// What a key does.
enum TopAction: Hashable {
  case none, quit, suspend
  case ask(TopState.Question, String)
}

extension TopState {
  mutating func press(_ key: TopKey) -> TopAction {
    if key == .interrupt { return .quit }
    if key == .suspend { return .suspend }
    switch view {
    case .prompt(let question, let typed): return type(key, question, typed)
    case .text(let title, let lines, let top): return move(key, title, lines, top)
    case .overview, .store: return choose(key)
    }
  }

  private mutating func choose(_ key: TopKey) -> TopAction {
    switch key {
    case .up, .character("k"): select(-1)
    case .down, .character("j"): select(1)
    case .enter: view = .store
    case .escape: view = .overview
    case .character("w"): open(.prompt(.why, typed: ""))
    case .character("p"): open(.prompt(.plan, typed: ""))
    case .character("?"), .character("h"): open(.text(title: "Keys", lines: TopState.help, top: 0))
    case .character("q"): return .quit
    default: break
    }
    return .none
  }

  private mutating func type(_ key: TopKey, _ question: Question, _ typed: String) -> TopAction {
    switch key {
    case .escape: view = previous
    case .enter where typed.isEmpty: view = previous
    case .enter: return .ask(question, typed)
    case .backspace: view = .prompt(question, typed: String(typed.dropLast()))
    case .character(let character) where !"\(character)".hasControls:
      view = .prompt(question, typed: typed + String(character))
    default: break
    }
    return .none
  }

  private mutating func move(
    _ key: TopKey, _ title: String, _ lines: [String], _ top: Int
  ) -> TopAction {
    let steps: [TopKey: Int] = [
      .up: -1, .character("k"): -1, .down: 1, .character("j"): 1, .pageUp: -10, .pageDown: 10,
      .character(" "): 10,
    ]
    if let step = steps[key] {
      view = .text(title: title, lines: lines, top: max(0, min(lines.count - 1, top + step)))
    }
    if key == .escape || key == .enter { view = previous }
    return key == .character("q") ? .quit : .none
  }

  /// Opens a text or a prompt, which `escape` closes again.
  private mutating func open(_ new: View) {
    previous = view
    view = new
  }

  mutating func show(_ title: String, _ text: String) {
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    view = .text(title: title, lines: lines, top: 0)
  }

  private static let help = [
    "↑ ↓, k j      choose a store, or move in a text", "⏎             look into the store",
    "w             why does a node exist, or why was it deleted?",
    "p             what would be deleted with a node, or by a held plan?", "esc           back",
    "q, ^C         quit",
    "^Z            suspend", "",
    "The columns: QUEUE, HELD and REJECTED count change files, JOURNAL",
    "rows that wait for a sweep; p50, p99 and max are how long the daemon held",
    "the write lock, in milliseconds, the last thousand times.",
  ]
}
