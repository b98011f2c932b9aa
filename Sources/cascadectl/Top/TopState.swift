internal import CascadeModel
internal import CascadeSystem

/// What `top` knows and shows.
struct TopState {
  /// What covers the screen.
  enum View {
    case overview
    case store
    /// An answer, or the help. Its first shown line can be moved.
    case text(title: String, lines: [String], top: Int)
    /// The line in which a node is typed.
    case prompt(Question, typed: String)
  }

  enum Question: String {
    case why, plan

    var form: String { self == .why ? "collection/key" : "collection/key, or a held plan" }
  }

  private(set) var status: JSON = .null
  private(set) var events: [JSON] = []
  private var rates: [String: Rate] = [:]
  var view = View.overview
  /// The view to go back to from a text or a prompt.
  var previous = View.overview
  /// Why the daemon does not answer.
  var trouble: String?
  private(set) var selected = 0

  private static let mostEvents = 200

  /// Those with trouble first.
  private(set) var stores: [JSON] = []

  var selectedStore: JSON? { stores.indices.contains(selected) ? stores[selected] : nil }

  private static let states = ["degraded", "waiting", "held", "starting", "paused", "ok"]

  private static func urgency(_ store: JSON) -> Int {
    states.firstIndex(of: store["state"]?.string ?? "") ?? 0
  }

  mutating func note(status: JSON, at now: Int64) {
    self.status = status
    let chosen = selectedStore?["store"]
    let all = status["stores"]?.array ?? []
    // The order of equal ones stays.
    stores = all.enumerated().sorted {
      (TopState.urgency($0.element), $0.offset) < (TopState.urgency($1.element), $1.offset)
    }.map(\.element)
    selected = stores.firstIndex { $0["store"] == chosen } ?? 0
    for store in stores {
      let path = store["store"]?.string ?? ""
      rates[path] = Rate(store["progress"], after: rates[path], at: now)
    }
  }

  mutating func note(events new: [JSON]) {
    events = Array((events + new).suffix(TopState.mostEvents))
  }

  mutating func select(_ step: Int) {
    selected = max(0, min(stores.count - 1, selected + step))
  }

  /// What happened; without the store where there is only one.
  func message(of event: JSON) -> String {
    let message = event["message"]?.string ?? ""
    let start = "\(event["store"]?.string ?? ""): "
    let isClear = stores.count == 1 && message.hasPrefix(start)
    return (isClear ? String(message.dropFirst(start.count)) : message).printable
  }

  /// The nodes a second of what runs in a store.
  func rate(of store: JSON) -> Int64? { rates[store["store"]?.string ?? ""]?.perSecond }
}

/// How fast a sweep proceeds, measured from its first sight.
private struct Rate {
  private let what: String?
  private let start: Int64
  private let startDone: Int64
  let perSecond: Int64?

  init?(_ progress: JSON?, after last: Rate?, at now: Int64) {
    guard let done = progress?["done"]?.integer else { return nil }
    what = progress?["what"]?.string
    let isSame = last?.what == what && (last?.startDone ?? 0) <= done
    start = isSame ? last?.start ?? now : now
    startDone = isSame ? last?.startDone ?? done : done
    let elapsed = now - start
    perSecond = elapsed >= 500 ? (done - startDone) * 1_000 / elapsed : nil
  }
}
