package import CascadeModel
package import CascadeStore

/// What `check` says of rows that go because of their age.
package enum ExpiryFindings {
  /// `look` counts the rows of a collection that have something else than a time, and says whether no time is
  /// in a year that can be meant. It throws `UnfitExpiry`.
  package static func all(
    of model: StoreModel, _ look: (Overdue) throws -> (noTimes: Int, areDoubtful: Bool)
  ) throws -> [SetupFinding] {
    try model.ages.flatMap { collection, expiry in
      let overdue = Overdue(collection, expiry, at: 0, last: nil)
      do {
        let (noTimes, areDoubtful) = try look(overdue)
        return texts(overdue, noTimes, areDoubtful).map { finding(UnfitExpiry(overdue.misfit($0))) }
      } catch let unfit as UnfitExpiry {
        return [finding(unfit)]
      }
    }
  }

  private static func texts(_ overdue: Overdue, _ noTimes: Int, _ areDoubtful: Bool) -> [String] {
    var texts: [String] = []
    let column = overdue.expiry.column ?? ""
    if noTimes > 0 {
      texts.append(
        "\(noTimes) of \"\(overdue.collection)\" have no time in \"\(column)\": they never expire")
    }
    if areDoubtful {
      texts.append(
        "all times in \"\(column)\" are of the year 1970 or after 5000, so they are in another unit than "
          + "\"as\" says; the first pass waits for approval, however little it takes")
    }
    return texts
  }

  private static func finding(_ unfit: UnfitExpiry) -> SetupFinding {
    SetupFinding(kind: .expires, table: nil, message: unfit.description)
  }
}
