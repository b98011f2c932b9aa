package import CascadeModel

/// What a transaction deletes in all of its flushes: together they are one plan.
package struct PlanSums {
  package var collections: [String: CollectionCount] = [:]
  package var checksum: UInt64 = 0

  package init() {}

  package mutating func add(_ counts: [CollectionCount], checksum: UInt64) {
    for count in counts {
      collections[count.name] = count.adding(collections[count.name]?.gone ?? 0)
    }
    self.checksum &+= checksum
  }
}

package struct CollectionCount {
  package let name: String
  package var gone: Int
  /// All nodes of the collection, including those that go.
  package var all: Int

  package init(name: String, gone: Int, all: Int) {
    self.name = name
    self.gone = gone
    self.all = all
  }

  /// Adds nodes that were deleted before. They are no longer part of `all`.
  package func adding(_ before: Int) -> CollectionCount {
    CollectionCount(name: name, gone: gone + before, all: all + before)
  }

  /// Exactly the share is not over the limit. The product may fall short of it by a rounding (0.29
  /// times 100 is less than 29), so a small error is tolerated.
  package func isOver(_ limit: StoreModel.Hold) -> Bool {
    let most = limit.share * Double(all)
    return Double(gone) > most + 2 * most.ulp
  }
}

extension [CollectionCount] {
  package func areOver(_ limit: StoreModel.Hold) -> Bool {
    reduce(0) { $0 + $1.gone } > limit.deletes && contains { $0.isOver(limit) }
  }
}
