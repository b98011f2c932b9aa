extension Reason {
  /// Why a trigger refused a statement that the application ran by itself: the message of the SQLite
  /// error. nil if the message is of something else than a denial.
  public init?(sqliteMessage message: String) {
    // The trigger says: NODE must stay: NODE holds it by "NAME" (RULE)
    guard let (start, rest) = message.split(at: " must stay: "),
      let (holding, named) = rest.split(at: " holds it by \""),
      let (name, ruled) = named.split(at: "\" ("), let (rule, _) = ruled.split(at: ")"),
      let kept = NodeName(written: start.split(at: "'")?.1 ?? start),
      let holder = NodeName(written: holding)
    else { return nil }
    let rules = Rules(names: [rule])
    let isSource = rules == .denySourceDeletion
    code = .denied
    self.message = "\(kept) must stay: \(holder) holds it by \"\(name)\" (\(rule))"
    node = kept
    edge = EdgeName(
      name.undoubled, from: isSource ? kept : holder, to: .node(isSource ? holder : kept), rules)
    path = nil
  }
}

extension NodeName {
  /// Reads `collection/key`, in which SQLite has doubled each apostrophe.
  fileprivate init?(written text: String) {
    guard let (collection, key) = text.undoubled.split(at: "/") else { return nil }
    self.init(collection, .text(key))
  }
}

extension String {
  /// The text before and after the first occurrence of a separator.
  fileprivate func split(at separator: String) -> (String, String)? {
    let (text, part) = (Array(utf8), Array(separator.utf8))
    guard text.count >= part.count else { return nil }
    let found = (0...(text.count - part.count)).first { text[$0..<($0 + part.count)] == part[...] }
    guard let found else { return nil }
    return (
      String(decoding: text[..<found], as: UTF8.self),
      String(decoding: text[(found + part.count)...], as: UTF8.self)
    )
  }

  fileprivate var undoubled: String {
    var text = ""
    var isSecond = false
    for character in self {
      isSecond = character == "'" && !isSecond && text.last == "'"
      if !isSecond { text.append(character) }
    }
    return text
  }
}
