/// The words of a name, in lower case: `albumId`, `AlbumID` and `album_id` are `album` and `id`.
struct Words: Hashable {
  var list: [String]

  init(_ list: [String]) { self.list = list }

  init(of name: String) {
    var words: [String] = []
    var word = ""
    let letters = Array(name)
    for (index, letter) in letters.enumerated() {
      let isSeparator = !letter.isLetter && !letter.isNumber
      if isSeparator || Words.begins(at: index, letters), !word.isEmpty {
        words.append(word)
        word = ""
      }
      if !isSeparator { word += letter.lowercased() }
    }
    list = word.isEmpty ? words : words + [word]
  }

  /// Whether a capital begins a word: after a small letter, or before one in a row of capitals.
  private static func begins(at index: Int, _ letters: [Character]) -> Bool {
    guard index > 0, letters[index].isUppercase else { return false }
    if letters[index - 1].isLowercase || letters[index - 1].isNumber { return true }
    // `IDs` is one word.
    if letters[index...].count == 2, letters.last == "s" { return false }
    return letters[index - 1].isUppercase && index + 1 < letters.count
      && letters[index + 1].isLowercase
  }

  /// With each word in the singular.
  var singular: Words { Words(list.map(Words.singular)) }

  var joined: String { list.joined() }
  var isEmpty: Bool { list.isEmpty }

  func dropFirst(_ count: Int = 1) -> Words { Words(Array(list.dropFirst(count))) }
  func dropLast(_ count: Int = 1) -> Words { Words(Array(list.dropLast(count))) }

  func ends(with other: Words) -> Bool {
    !other.isEmpty && list.count > other.list.count
      && Array(list.suffix(other.list.count)) == other.list
  }

  /// Whether the last words, written as one, are the other name: `current_task_state`, `taskstate`.
  func endsJoined(with other: Words) -> Bool {
    (1..<max(list.count, 1)).contains { list[$0...].joined() == other.joined }
  }

  func begins(with other: Words) -> Bool {
    !other.isEmpty && list.count > other.list.count && list.starts(with: other.list)
  }

  func contains(_ other: Words) -> Bool {
    !other.isEmpty && (0..<list.count).contains { list[$0...].starts(with: other.list) }
  }
}

extension Words {
  private static let irregular = [
    "people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse",
    "feet": "foot", "indices": "index", "indexes": "index", "matrices": "matrix",
    "vertices": "vertex", "series": "series", "species": "species", "news": "news",
    "statuses": "status", "status": "status", "aliases": "alias", "alias": "alias",
    "buses": "bus", "bus": "bus", "analyses": "analysis", "movies": "movie",
    "cookies": "cookie", "ties": "tie", "caches": "cache", "cache": "cache",
    "databases": "database", "address": "address", "canvas": "canvas", "atlas": "atlas",
  ]

  /// Endings of plurals, and what takes their place.
  private static let endings = [
    ("ies", "y"), ("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("zzes", "z"),
  ]

  /// Endings of words in the singular, though they have an "s". Not `wikis`, `apis`, `emojis`.
  private static let singularEndings = [
    "ss", "us", "sis", "xis", "nis", "ris", "dis", "tis", "vis",
  ]

  static func singular(_ word: String) -> String {
    if let known = irregular[word] { return known }
    for (ending, other) in endings where word.hasSuffix(ending) && word.count > ending.count + 1 {
      return word.dropLast(ending.count) + other
    }
    let isPlural = word.count > 3 && word.hasSuffix("s")
    if isPlural && !singularEndings.contains(where: word.hasSuffix) {
      return String(word.dropLast())
    }
    return word
  }
}
