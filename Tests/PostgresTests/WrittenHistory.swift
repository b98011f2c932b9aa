import CascadeModel
import CascadePostgres
import PostgresSupport
import StoreDefinition

/// What sessions did to the rows, as triggers of the test have logged it.
///
/// 1. A row of the log is of the transaction that wrote it, so what was rolled back is not there.
/// 2. What a statement saw is in its snapshot; what a transaction of a session could see at all, in
///    that of its end.
struct WrittenHistory {
  struct Fact: Hashable {
    /// Which of the relations.
    let relation: Int
    let from: Node
    let to: Node
  }

  struct Event {
    let number: Int
    let transaction: Int
    let snapshot: Snapshot
    let isDaemon: Bool
    /// How many rows of a node came or went.
    let nodes: [Node: Int]
    let facts: [Fact: Int]
    /// The facts of the row before.
    let before: Set<Fact>

    /// The node that it deleted.
    var deleted: Node? { nodes.first { $0.value < 0 }?.key }
  }

  struct Snapshot: CustomStringConvertible {
    let description: String
    private let end: Int
    private let open: Set<Int>

    init(_ text: String) {
      description = text
      let parts = text.split(separator: ":", omittingEmptySubsequences: false)
      end = Int(parts[1])!
      open = Set(parts[2].split(separator: ",").compactMap { Int($0) })
    }

    func sees(_ transaction: Int) -> Bool { transaction < end && !open.contains(transaction) }
  }

  let events: [Event]
  /// Of the transactions of sessions.
  let ends: [Int: Snapshot]

  // MARK: - What was there

  /// What there is now, or what there was for the statement of an event.
  struct State {
    private(set) var nodes: [Node: Int] = [:]
    private(set) var facts: [Fact: Int] = [:]
    /// The event by which a node came last.
    private(set) var births: [Node: Int] = [:]

    fileprivate init(_ events: some Sequence<Event>) {
      for event in events {
        nodes.merge(event.nodes, uniquingKeysWith: +)
        for (node, count) in event.nodes where count > 0 { births[node] = event.number }
        facts.merge(event.facts, uniquingKeysWith: +)
      }
    }

    func has(_ node: Node) -> Bool { nodes[node, default: 0] > 0 }
    func has(_ fact: Fact) -> Bool { facts[fact, default: 0] > 0 }
    var allFacts: [Fact] { facts.filter { $0.value > 0 }.map(\.key) }
  }

  var end: State { State(events) }

  /// What the statement of an event saw before it did anything.
  func state(at event: Event) -> State { state(before: event, in: event.snapshot) }

  /// What the transaction of an event sees at its end, without what it does itself behind it.
  func stateLater(than event: Event) -> State {
    state(before: event, in: ends[event.transaction] ?? event.snapshot)
  }

  /// No snapshot tells of its own transaction.
  private func state(before event: Event, in snapshot: Snapshot) -> State {
    State(
      events.lazy.filter {
        $0.transaction == event.transaction
          ? $0.number < event.number : snapshot.sees($0.transaction)
      })
  }

  /// Facts about a node that came in a session which this event did not see, and which has not seen the
  /// event. The session has seen the node all the time, and not another one of its key. What the
  /// transaction of the event saw going again by its end does not count.
  func unseen(by event: Event, of node: Node) -> [Fact] {
    let later = stateLater(than: event)
    return events.filter { other in
      !other.isDaemon && other.transaction != event.transaction
        && !event.snapshot.sees(other.transaction)
        && ends[other.transaction].map { !$0.sees(event.transaction) } ?? false
    }.flatMap { other -> [Fact] in
      let facts = other.facts.filter {
        $0.value > 0 && ($0.key.from == node || $0.key.to == node) && isLeft($0.key, by: other)
      }
      if facts.isEmpty { return [] }
      let states = [state(at: other), stateLater(than: other)]
      let isSame = Set(states.map { $0.births[node] }).count == 1
      let wasSeen = ends[event.transaction]?.sees(other.transaction) ?? false
      return isSame && states.allSatisfy { $0.has(node) }
        ? facts.keys.filter { !wasSeen || later.has($0) } : []
    }
  }

  /// Whether the transaction of an event has not taken a fact back.
  private func isLeft(_ fact: Fact, by event: Event) -> Bool {
    events.filter { $0.transaction == event.transaction }
      .reduce(0) { $0 + $1.facts[fact, default: 0] } > 0
  }

  /// Whether a fact was there in some state before an event; nil: ever.
  func wasThere(_ fact: Fact, before event: Event? = nil) -> Bool {
    events.contains { other in
      (event.map { other.number < $0.number } ?? true)
        && (other.before.contains(fact) || other.facts[fact, default: 0] > 0)
    }
  }

  /// Facts that went when a node was there which still is.
  func lost(while node: Node) -> [(fact: Fact, event: Event)] {
    guard let birth = events.last(where: { $0.nodes[node, default: 0] > 0 }) else { return [] }
    return events.filter { $0.snapshot.sees(birth.transaction) }.flatMap { event in
      event.facts.filter { $0.value < 0 }.map { ($0.key, event) }
    }
  }
}

// MARK: - The log

extension WrittenHistory {
  /// What there is about a node.
  func log(of node: Node) -> String {
    events.filter { event in
      event.nodes[node] != nil || event.facts.keys.contains { $0.from == node || $0.to == node }
    }.map { event in
      let facts = event.facts.filter { $0.key.from == node || $0.key.to == node }
        .map { "\($0.value) of \($0.key.relation): \($0.key.from) \($0.key.to)" }
      let who = event.isDaemon ? "daemon" : "session"
      return "\(event.number) \(who) \(event.transaction) saw \(event.snapshot): "
        + "\(event.nodes[node] ?? 0) \(facts)"
    }.joined(separator: "\n")
  }
}

extension WrittenHistory {
  static let schema = """
    CREATE TABLE log(
      number bigserial, transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
      snapshot text NOT NULL DEFAULT current_setting('test.snapshot'),
      is_daemon boolean NOT NULL, place text NOT NULL, old jsonb, new jsonb);
    CREATE TABLE ending(
      transaction xid8 NOT NULL DEFAULT pg_current_xact_id(),
      snapshot text NOT NULL DEFAULT pg_current_snapshot());
    GRANT INSERT ON ending TO PUBLIC;
    -- A stable function sees what the statement saw that fired the trigger.
    CREATE FUNCTION note_snapshot() RETURNS trigger LANGUAGE plpgsql STABLE AS $$ BEGIN
      PERFORM set_config('test.snapshot', pg_current_snapshot()::text, true); RETURN NULL; END $$;
    CREATE FUNCTION note_row() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
    SET search_path = public, pg_temp AS $$ BEGIN
      INSERT INTO log(is_daemon, place, old, new) VALUES(
        session_user = 'cascaded', coalesce(
          (SELECT c.relname FROM pg_inherits p
            JOIN pg_class c ON c.oid = p.inhparent WHERE p.inhrelid = tg_relid),
          tg_table_name),
        CASE WHEN tg_op <> 'INSERT' THEN to_jsonb(old) END,
        CASE WHEN tg_op <> 'DELETE' THEN to_jsonb(new) END); RETURN NULL; END $$;
    """

  static func triggers(on table: String) -> String {
    """
    CREATE TRIGGER a_note_snapshot AFTER INSERT OR UPDATE OR DELETE ON \(table)
      FOR EACH ROW EXECUTE FUNCTION public.note_snapshot();
    CREATE TRIGGER b_note_row AFTER INSERT OR UPDATE OR DELETE ON \(table)
      FOR EACH ROW EXECUTE FUNCTION public.note_row();
    """
  }

  static let endOfTransaction = "INSERT INTO ending DEFAULT VALUES"

  /// `node` and `facts` are what a row of a table says.
  init(
    _ session: borrowing Session, node: (String, JSON) -> Node?,
    facts: (String, JSON) -> [Fact]
  ) throws {
    let rows = try session.run(
      "SELECT number, transaction, snapshot, is_daemon, place, old, new FROM log ORDER BY number"
    ).rows
    events = try rows.map { row in
      let images = try [row[5], row[6]].map { try $0.map { try JSON.parse($0) } }
      var (nodes, all): ([Node: Int], [Fact: Int]) = ([:], [:])
      for (image, change) in zip(images, [-1, 1]) {
        guard let image else { continue }
        if let node = node(row[4]!, image) { nodes[node, default: 0] += change }
        for fact in Set(facts(row[4]!, image)) { all[fact, default: 0] += change }
      }
      return Event(
        number: Int(row[0]!)!, transaction: Int(row[1]!)!, snapshot: Snapshot(row[2]!),
        isDaemon: row[3] == "t", nodes: nodes.filter { $0.value != 0 },
        facts: all.filter { $0.value != 0 },
        before: Set(images[0].map { facts(row[4]!, $0) } ?? []))
    }
    ends = Dictionary(
      try session.run("SELECT transaction, snapshot FROM ending").rows.map {
        (Int($0[0]!)!, Snapshot($0[1]!))
      }, uniquingKeysWith: { $1 })
  }
}
