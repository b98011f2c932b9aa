internal import CascadeModel

/// How a part of a line looks.
enum TextStyle: String {
  case plain = ""
  case bold = "1"
  case dim = "2"
  case red = "31"
  case green = "32"
  case yellow = "33"
  case selected = "7"
}

/// A line of the screen, in parts of different styles.
struct ScreenLine {
  private var parts: [(text: String, style: TextStyle)] = []
  private(set) var width = 0

  init() {}

  init(_ text: String, _ style: TextStyle = .plain) { add(text, style) }

  mutating func add(_ text: String, _ style: TextStyle = .plain) {
    let text = text.escapingControls()
    parts.append((text, style))
    width += text.columns
  }

  /// Fills the line with blanks up to a column, then adds the text.
  mutating func add(_ text: String, _ style: TextStyle = .plain, at column: Int) {
    if width < column { add(String(repeating: " ", count: column - width)) }
    add(text, style)
  }

  /// Adds the text so that it ends at a column.
  mutating func add(_ text: String, _ style: TextStyle = .plain, endingAt column: Int) {
    add(text, style, at: max(width + 1, column - text.columns))
  }

  /// The bytes for a terminal of this width.
  func rendered(_ columns: Int, hasColors: Bool) -> String {
    var text = ""
    var left = columns
    for part in parts where left > 0 {
      let shown = part.text.cut(to: left)
      left -= shown.columns
      let isPlain = part.style == .plain || !hasColors && part.style != .selected
      text += isPlain ? shown : "\u{1B}[\(part.style.rawValue)m\(shown)\u{1B}[0m"
    }
    return text
  }
}

/// What a terminal shows. Only the lines that changed are written.
struct Screen {
  private var shown: [String] = []

  /// Forgets what is shown, because the terminal was cleared or has another size.
  mutating func reset() { shown = [] }

  /// What makes the terminal show these lines.
  mutating func update(to lines: [String]) -> String {
    var text = shown.isEmpty ? "\u{1B}[H\u{1B}[2J" : ""
    for (row, line) in lines.enumerated() {
      let old = row < shown.count ? shown[row] : ""
      if old != line { text += "\u{1B}[\(row + 1);1H\(line)\u{1B}[K" }
    }
    if lines.count < shown.count { text += "\u{1B}[\(lines.count + 1);1H\u{1B}[J" }
    shown = lines
    return text
  }
}

extension String {
  /// The width on a terminal.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The text, or its beginning and an ellipsis.
  func cut(to most: Int) -> String {
    if columns <= most { return self }
    var (cut, width) = ("", 0)
    for character in self {
      width += character.columns
      if width > most - 1 { break }
      cut.append(character)
    }
    return most > 0 ? cut + "…" : ""
  }

  /// The text in lines of this width. Those behind the first are indented.
  func wrapped(to most: Int) -> [String] {
    var (lines, rest) = ([String](), self)
    while rest.columns > most, most > 20 {
      let full = String(rest.cut(to: most + 1).dropLast())
      let words = full.lastIndex(of: " ").map { full[..<$0] }
      let line = words.flatMap { $0.count > most / 2 ? String($0) : nil } ?? full
      lines.append(line)
      rest = "      " + rest.dropFirst(line.count).drop { $0 == " " }
    }
    return lines + [rest]
  }

  /// The text, or an ellipsis and its end: of a path, the end tells more.
  func cutFront(to most: Int) -> String {
    if columns <= most { return self }
    return "…" + String(String(reversed()).cut(to: most).dropLast().reversed())
  }
}

extension Character {
  /// East Asian characters and emoji take two columns.
  fileprivate var columns: Int {
    switch unicodeScalars.first!.value {
    case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      2
    default: 1
    }
  }
}
