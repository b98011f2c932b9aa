internal import CascadeSQLite
internal import SQLiteBinding

/// A table and a key that a column may refer to, with the evidence.
struct Candidate {
  let parent: SampledTable
  let key: Table.Column
  let name: NameEvidence
  let values: ValueEvidence
  /// Whether the column is declared like the key, and its name is no plural: all that can be said
  /// where there are no values.
  let isSameType: Bool
  /// Whether the column's name is one of many things, as `version` and `position` are.
  var isPlain = false
  /// Whether the values may name rows that are no more, as those of a log do.
  var isOfThePast = false
  /// Other tables that fit as well.
  var rivals: [String] = []

  /// How they compare where a column may refer to several tables.
  var score: Double {
    let values = values.isTelling ? 1.0 : values.isGood ? 0.4 : values.count == 0 ? 0 : -0.6
    return name.strength + values + (isConvincing ? 10 : 0)
  }

  var isLikely: Bool { isConvincing && rivals.isEmpty }

  /// Name, kind of values and presence count together. Small integers are there by accident, so
  /// that only a name speaks for them.
  var isConvincing: Bool {
    if isPlain && !values.isTelling { return false }
    if isOfThePast || name.isRole, values.count > 0, values.share < 0.5, parent.rows > 0 {
      return false
    }
    switch name.strength {
    case 2.6...:
      return values.count == 0 || values.hits > 0 || parent.rows == 0
    case NameEvidence.outright...:
      return values.count == 0
        ? name.hasKey || isSameType
        : values.isTelling || values.chance <= -6
          || values.share >= 0.5 && !values.isNarrow
    case 1.9...:
      return values.count == 0
        ? name.hasKey : values.isTelling || values.isGood && !values.isNarrow
    case 1.65...: return values.isTelling || name.hasKey && values.isGood && !values.isNarrow
    case 0.9...: return values.isTelling
    default:
      return values.isRandom
        ? values.share == 1 : values.share >= 0.95 && values.hits >= 3 && values.chance <= -9
    }
  }

  /// Worth a line with a question mark.
  var isPossible: Bool {
    if isConvincing || isPlain { return isConvincing }
    return name.strength >= 1.9 && (values.count == 0 || values.share >= 0.3)
      || name.strength >= 1.4 && name.hasKey && values.isGood
  }

  /// Whether this one fits as well as the best one. A name that says it outright is beaten only by
  /// another one that does.
  func isRival(of best: Candidate) -> Bool {
    let margin = best.name.strength >= NameEvidence.outright ? 0.05 : 0.5
    return isConvincing && parent.name != best.parent.name
      && name.strength >= best.name.strength - margin
      && values.isTelling == best.values.isTelling
  }

  var text: String {
    let name = name.strength > 0 ? name.reason : "another name"
    let rivals =
      rivals.isEmpty ? "" : "; \(rivals.joined(separator: ", ")) \(rivals.fits) as well"
    return "\(name); \(kind); \(values.text)\(rivals)"
  }

  private var kind: String {
    switch key.affinity {
    case .integer: "integers"
    case .text: "text"
    case .blob: "values without a type"
    case .real, .numeric: "numbers"
    }
  }
}

extension [String] {
  fileprivate var fits: String { count == 1 ? "fits" : "fit" }
}

extension [Candidate] {
  /// The best one, and those that fit as well: then none of them is likely.
  var bestAndRivals: [Candidate] {
    guard let best = self.max(by: { $0.score < $1.score }) else { return [] }
    var found = [best] + filter { $0.isRival(of: best) }
    let names = found.map(\.parent.name).unique
    if names.count == 1 { return [best] }
    for index in found.indices {
      found[index].rivals = names.filter { $0 != found[index].parent.name }
    }
    return found
  }
}
