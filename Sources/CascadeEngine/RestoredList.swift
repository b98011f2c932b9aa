/// A list that was changed after references were taken out of it. Each element is JSON text.
package struct RestoredList {
  package let now: [String]

  package init(now: [String]) {
    self.now = now
  }

  package struct Element {
    package let text: String
    package let isBack: Bool

    package init(text: String, isBack: Bool) {
      self.text = text
      self.isBack = isBack
    }
  }

  /// Returns the list with the restored elements. Each one is inserted after the element that it
  /// followed. One that followed no element of the list goes to the front, or to the end if the
  /// list has no element of the old one.
  package func inserting(_ was: [Element]) -> String {
    // Compared by bytes: two encodings of one letter are two keys.
    let places = Dictionary(
      now.enumerated().map { (Array($1.utf8), $0) }, uniquingKeysWith: { first, _ in first })
    var front: [String] = []
    var behind: [Int: [String]] = [:]
    var last: Int?
    for element in was {
      if let place = places[Array(element.text.utf8)] {
        last = place
      } else if element.isBack, let last {
        behind[last, default: []].append(element.text)
      } else if element.isBack {
        front.append(element.text)
      }
    }
    let rest = now.enumerated().flatMap { [$1] + (behind[$0] ?? []) }
    let all = last == nil ? rest + front : front + rest
    return "[\(all.joined(separator: ","))]"
  }
}
