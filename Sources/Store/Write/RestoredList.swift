/// A list that somebody wrote meanwhile, each element as JSON.
struct RestoredList {
  let now: [String]

  struct Element {
    let text: String
    let isBack: Bool
  }

  /// What is back stands behind what it stood behind, or at the front, if anything it stood before is
  /// there.
  func taking(_ was: [Element]) -> String {
    // By their bytes: two spellings of one letter are two keys.
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
