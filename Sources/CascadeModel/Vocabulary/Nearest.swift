/// The candidate that was probably meant: the one with the fewest typing errors, and with errors in
/// at most a third of its letters. Nil when none is near, so that no message suggests something
/// absurd.
package func nearest(_ name: String, in candidates: [String]) -> String? {
  let typed = Array(name.utf8)
  var best: (name: String, distance: Int)?
  for candidate in candidates {
    let meant = Array(candidate.utf8)
    let allowed = min(max(1, (max(typed.count, meant.count) + 1) / 3), (best?.distance ?? .max) - 1)
    // This also bounds the cost of a hostile name of many megabytes.
    guard abs(typed.count - meant.count) <= allowed else { continue }
    let distance = editDistance(typed, meant)
    if distance <= allowed { best = (candidate, distance) }
  }
  return best?.name
}

/// The number of letters to insert, delete, replace or swap with their neighbour. Except in swaps,
/// case is ignored: `deleteall` is nearer to `deleteAll` than to any other word.
private func editDistance(_ left: [UInt8], _ right: [UInt8]) -> Int {
  var beforeLast: [Int] = []
  var last = Array(0...right.count)
  for i in left.indices {
    var row = [i + 1]
    for j in right.indices {
      let replaced = last[j] + (lowercase(left[i]) == lowercase(right[j]) ? 0 : 1)
      var cost = min(replaced, last[j + 1] + 1, row[j] + 1)
      if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
        cost = min(cost, beforeLast[j - 1] + 1)
      }
      row.append(cost)
    }
    (beforeLast, last) = (last, row)
  }
  return last[right.count]
}

private func lowercase(_ byte: UInt8) -> UInt8 {
  (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
}
