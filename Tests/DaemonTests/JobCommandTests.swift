import CascadeModel
import Testing

/// `delete`, `jobs` and `cancel` as people and scripts use them.
@Suite struct JobCommandTests {
  private static let model = """
    { collections: {
        tenants: { table: "tenant", key: "id" }, posts: { table: "post", key: "id" } },
      relationships: [
        { name: "tenant", from: "posts", to: "tenants", column: "tenant",
          rules: ["deleteSourceIfDestinationDeleted"] }],
      limits: { hold: { deletes: 5, share: 0.1 } } }
    """
  private static let schema = """
    CREATE TABLE tenant(id INTEGER PRIMARY KEY);
    CREATE TABLE post(id INTEGER PRIMARY KEY,
      tenant INTEGER REFERENCES tenant(id) ON DELETE CASCADE);
    CREATE TABLE invoice(id INTEGER PRIMARY KEY, tenant INTEGER REFERENCES tenant(id));
    CREATE INDEX post_tenant ON post(tenant); CREATE INDEX invoice_tenant ON invoice(tenant);
    INSERT INTO tenant VALUES(1), (2); INSERT INTO invoice VALUES(1, 2);
    INSERT INTO post SELECT value, 1 + value % 2 FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14]');
    """

  private func store() throws -> TestStore {
    try TestStore(model: JobCommandTests.model, schema: JobCommandTests.schema)
  }

  @Worker @Test("A dry run counts, an expected number may go, and an undo brings it back")
  func expected() throws {
    let store = try store()
    let dry = try store.ctl("--json", "delete", "tenants/1", "--dry-run")
    #expect(try dry.status == 0 && dry.json["of"] == 8 && dry.json["job"] == .null)
    let job = try store.ctl("--json", "delete", "tenants/1", "--expect", "8")
    #expect(try job.status == 0 && job.json["state"] == "done" && job.json["deletedCount"] == 8)
    #expect(try store.sizes() == "1|7")
    let batch = try #require(try job.json["batch"]?.integer)
    #expect(try store.ctl("undo", "\(batch)").status == 0)
    #expect(try store.sizes() == "2|14")
    let jobs = try store.ctl("--json", "jobs")
    #expect(try jobs.json["subject"]?["nodes"] == [["tenants", 1]])
  }

  @Worker @Test("Over the hold limit it waits for its plan")
  func held() throws {
    let store = try store()
    let job = try store.ctl("--json", "delete", "posts", "--where", "tenant = 1")
    #expect(try job.status == 3 && job.json["state"] == "held")
    let plan = try #require(try job.json["plan"]?.integer)
    #expect(try store.ctl("plan", "\(plan)").status == 0)
    let status = try store.ctl("--json", "status").json["stores"]?.array?.first
    #expect(status?["heldPlans"]?.array?.first?["plan"]?.integer == plan)
    #expect(try store.ctl("approve", "\(plan)").status == 0)
    #expect(try store.sizes() == "2|7")
    let other = try store.ctl("--json", "delete", "posts", "--where", "tenant = 2", "--no-wait")
    let number = try #require(try other.json["job"]?.integer)
    #expect(other.status == 0)
    #expect(try store.ctl("cancel", "\(number)").status == 0)
    #expect(try store.sizes() == "2|7")
  }

  @Worker @Test("What has to stay, and what is no condition, is told")
  func refused() throws {
    let store = try store()
    let job = try store.ctl("--json", "delete", "tenants/2", "--expect", "100")
    #expect(try job.status == 4 && job.json["state"] == "blocked")
    #expect(try job.json["blocked"]?.array?.first?["node"] == ["tenants", 2])
    let illegal = try store.ctl("delete", "posts", "--where", "1; DROP TABLE post")
    #expect(illegal.status == 65 && illegal.error.contains("the condition cannot be used"))
    #expect(try store.ctl("delete").status == 64)
    #expect(try store.ctl("delete", "tenants/9").status == 0)
    #expect(try store.sizes() == "2|14")
  }
}

extension TestStore {
  fileprivate func sizes() throws -> String {
    try sql("SELECT (SELECT count(*) FROM tenant), (SELECT count(*) FROM post)")
      .trimmingPrefix { $0 == "\n" }.split(separator: "\n").joined()
  }
}
