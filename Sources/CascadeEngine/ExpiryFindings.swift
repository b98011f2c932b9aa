internal import CascadeModel
package import CascadeStore

/// What `check` says of rows that go because of their age.
package struct ExpiryFindings {
  package let all: [SetupFinding]

  /// `noTimes` rows have something else than a time; `isDoubtful`: no time is in a year that can be meant.
  package init(_ overdue: Overdue, noTimes: Int, isDoubtful: Bool) {
    var texts: [String] = []
    let column = overdue.expiry.column ?? ""
    if noTimes > 0 {
      texts.append(
        "\(noTimes) of \"\(overdue.collection)\" have no time in \"\(column)\": they never expire")
    }
    if isDoubtful {
      texts.append(
        "all times in \"\(column)\" are of the year 1970 or after 5000, so they are in another unit than "
          + "\"as\" says; the first pass waits for approval, however little it takes")
    }
    all = texts.map { ExpiryFindings.finding(UnfitExpiry(overdue.misfit($0))) }
  }

  package static func finding(_ unfit: UnfitExpiry) -> SetupFinding {
    SetupFinding(kind: .expires, table: nil, message: unfit.description)
  }
}
