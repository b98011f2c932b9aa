import CascadeKit
import CascadeModel
import CascadeSystem
import TestSupport
import Testing

/// Beside an application's own SQL, and beside other clients.
@Suite struct BesideTests {
  @Test func aRefusalOfATriggerIsAReason() async throws {
    let test = try TestStore()
    let nina = Artist(id: .new(), name: "Nina", since: nil)
    let tour = Tour(id: .new(), singer: nina.id)
    try await test.store.write { tx in
      try tx.put(nina)
      try tx.put(tour)
    }
    let (sql, arguments) = Artist.deletion(of: nina.id)
    #expect(sql == "DELETE FROM \"artist\" WHERE \"id\" = ?")
    #expect(arguments == [.text("\(nina.id)")])
    let error = #expect(throws: Failure.self) {
      try test.sql("DELETE FROM artist WHERE id = '\(nina.id)'")
    }
    let reason = try #require(Reason(sqliteMessage: error?.description ?? ""))
    #expect(reason.code == .denied)
    #expect(reason.node?.isNode(nina.id) == true)
    #expect(reason.edge?.name == "singer")
    #expect(reason.edge?.source.isNode(tour.id) == true)
    #expect(reason.edge?.rules == .denyDestinationDeletion)
    #expect(Reason(sqliteMessage: "UNIQUE constraint failed: artist.id") == nil)
  }

  @Test func anInsertionReplacesTheRowOfItsKey() throws {
    let test = try TestStore(starts: false)
    let tag = Tag(id: "jazz", color: .green)
    let (sql, arguments) = tag.insertion
    #expect(
      sql == """
        INSERT INTO "tag"("id", "color") VALUES(?, ?) \
        ON CONFLICT("id") DO UPDATE SET "color" = excluded."color"
        """)
    #expect(arguments == ["jazz", "green"])
    try test.sql("INSERT INTO tag VALUES('jazz', 'red')")
    try test.sql(sql.replacing("VALUES(?, ?)", with: "VALUES('jazz', 'green')"))
    #expect(try test.sql("SELECT color FROM tag") == "green\n")
  }

  /// The cases that every client runs.
  @Test func theConformanceCasesHold() async throws {
    for test in try ConformanceCase.all() { try await test.run() }
  }
}

/// A case of `Tests/Conformance/cases.json`.
private struct ConformanceCase {
  private let json: JSON

  static func all() throws -> [ConformanceCase] {
    let tests = "\(#filePath)".split(separator: "/").dropLast(2).joined(separator: "/")
    let file = try FileDescriptor.open("/\(tests)/Conformance/cases.json")
    let bytes = try file.readWhole(limit: 1 << 20) ?? []
    return try JSON.parse(bytes).array!.map { ConformanceCase(json: $0) }
  }

  func run() async throws {
    let test = try TestStore(model: musicModel(settings: "strict: false"))
    for changes in json["before"]?.array ?? [] {
      _ = try await test.store.submit(Transaction(written: changes.array!))
    }
    let transaction = Transaction(written: json["changes"]!.array!)
    if json["repeat"]?.bool == true { _ = try await test.store.submit(transaction) }
    let (receipt, error) = await outcome { try await test.store.submit(transaction) }
    let comment = Comment(rawValue: "\(json["name"]?.string ?? ""): \(error ?? "no error")")
    let expected = json["receipt"]!
    #expect(error == json["error"]?.string, comment)
    if let receipt {
      #expect(receipt.outcome.rawValue == expected["outcome"]?.string, comment)
      for (name, value) in receipt.numbers {
        if let number = expected[name]?.integer { #expect(Int64(value) == number, comment) }
      }
      if let deleted = expected["deleted"]?.array {
        #expect(receipt.deleted.map(\.json) == deleted, comment)
      }
      if let own = expected["deletedOwn"]?.array {
        #expect(receipt.deletedOwn.map(\.json) == own, comment)
      }
    }
  }

  private func outcome(_ body: () async throws -> Receipt) async -> (Receipt?, String?) {
    do {
      return (try await body(), nil)
    } catch WriteError.denied(let reasons) {
      return (nil, reasons.allSatisfy { $0.code == .denied } ? "denied" : "other")
    } catch WriteError.rejected {
      return (nil, "rejected")
    } catch WriteError.changed {
      return (nil, "changed")
    } catch WriteError.deletesItself {
      return (nil, "deletesItself")
    } catch {
      return (nil, "\(error)")
    }
  }
}

extension Receipt {
  fileprivate var numbers: [(String, Int)] {
    [
      ("deletedCount", deletedCount), ("edgesAdded", edgesAdded), ("edgesRemoved", edgesRemoved),
      ("notices", notices), ("passedOver", passedOver),
    ]
  }
}
