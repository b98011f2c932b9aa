/// Reads `sweeps`, `limits`, `trash`, `keep` and `secureDelete`.
struct SettingsReader {
  private let fields: Fields

  init(_ fields: Fields) { self.fields = fields }

  func read(into model: inout StoreModel) {
    if let entry = fields["sweeps"] {
      model.sweeps = sweeps(entry)
      model.sweepTexts = texts(entry)
    }
    if let entry = fields["limits"] { limits(entry, &model.limits) }
    if let entry = fields["trash"], let time = entry.duration() { model.trash = time }
    if let entry = fields["keep"] { keep(entry, &model.retention) }
    if let entry = fields["archive"] { archive(entry, &model) }
    model.secureDelete = fields["secureDelete"]?.word()
  }

  private func archive(_ entry: ModelValue, _ model: inout StoreModel) {
    guard let path = entry.string("an absolute path") else { return }
    if !path.hasPrefix("/") && !entry.problems.allowsRelativePaths {
      return entry.addProblem("must be an absolute path")
    }
    if model.trash <= .zero {
      return entry.addProblem("has nothing to write: \"trash\" keeps nothing")
    }
    model.archive = path
  }

  private func keep(_ entry: ModelValue, _ keep: inout StoreModel.Retention) {
    guard let fields = Fields(entry, ["ledger", "notices", "deleted"]) else { return }
    if let time = fields["ledger"]?.positiveDuration() { keep.ledger = time }
    if let time = fields["notices"]?.positiveDuration() { keep.notices = time }
    if let time = fields["deleted"]?.positiveDuration() { keep.deleted = time }
  }

  private func sweeps(_ entry: ModelValue) -> [SweepKind: Schedule] {
    var sweeps: [SweepKind: Schedule] = [:]
    for (name, entry) in entry.members() ?? [] {
      if let kind = SweepKind(rawValue: name) {
        sweeps[kind] = entry.schedule()
      } else {
        entry.addProblem(unknown("sweep", name, among: SweepKind.allCases.map(\.rawValue)))
      }
    }
    return sweeps
  }

  private func texts(_ entry: ModelValue) -> [SweepKind: String] {
    var texts: [SweepKind: String] = [:]
    for (name, entry) in entry.objectMembers {
      if let kind = SweepKind(rawValue: name) { texts[kind] = entry.json.string }
    }
    return texts
  }

  private func limits(_ entry: ModelValue, _ limits: inout StoreModel.Limits) {
    let names = ["lock", "alone", "hold", "patience", "standby"]
    guard let fields = Fields(entry, names) else { return }
    if let entry = fields["lock"] { lock(entry, &limits) }
    if let entry = fields["alone"], let time = entry.positiveDuration() {
      limits.uncontendedLock = time
      if let lock = limits.lock, time < lock { entry.addProblem("is shorter than limits.lock") }
    }
    if let time = fields["patience"]?.duration() { limits.patience = time }
    if let entry = fields["standby"] { standby(entry, &limits) }
    if let entry = fields["hold"] { hold(entry, &limits.hold) }
  }

  /// Reads the lock limit. The limit while no other process writes is never shorter.
  private func lock(_ entry: ModelValue, _ limits: inout StoreModel.Limits) {
    if case .string("none") = entry.json {
      limits.lock = nil
    } else if let time = entry.positiveDuration() {
      limits.lock = time
      limits.uncontendedLock = max(limits.uncontendedLock, time)
    }
  }

  private func standby(_ entry: ModelValue, _ limits: inout StoreModel.Limits) {
    if case .string("always") = entry.json {
      limits.standby = nil
    } else if let time = entry.duration() {
      limits.standby = time
    }
  }

  private func hold(_ entry: ModelValue, _ hold: inout StoreModel.Hold) {
    guard let fields = Fields(entry, ["deletes", "share", "within"]) else { return }
    if let deletes = fields["deletes"]?.integer(atLeast: 0) { hold.deletes = deletes }
    if let share = fields["share"]?.share() { hold.share = share }
    if let time = fields["within"]?.duration() { hold.within = time }
  }
}

extension ModelValue {
  /// A century. Added to the time of any clock, it still fits.
  private static let longestDays = 36_525

  func duration() -> Duration? {
    guard let text = string("a duration such as \"10ms\" or \"1d\"") else { return nil }
    guard let duration = Duration(text: text) else {
      addProblem("\"\(text)\" is not a duration, such as \"10ms\", \"15m\" or \"1d\"")
      return nil
    }
    if duration <= .seconds(86_400 * ModelValue.longestDays) { return duration }
    addProblem("\"\(text)\" is longer than \(ModelValue.longestDays)d")
    return nil
  }

  fileprivate func positiveDuration() -> Duration? {
    guard let duration = duration() else { return nil }
    if duration > .zero { return duration }
    addProblem("must be greater than zero")
    return nil
  }

  fileprivate func schedule() -> Schedule? {
    guard let text = string("a schedule") else { return nil }
    do {
      return try Schedule(text: text)
    } catch {
      addProblem(error.reason)
      return nil
    }
  }

  fileprivate func share() -> Double? {
    let share: Double
    switch json {
    case .number(let value): share = value
    case .integer(let value): share = Double(value)
    default: return wrongType("a number from 0 to 1")
    }
    guard 0...1 ~= share else {
      addProblem("\(share) is not within 0 to 1")
      return nil
    }
    return share
  }
}
