import CascadeInspect
import CascadeSQLite
import Testing

/// Names and values as large applications have them.
@Suite struct RealNamesTests {
  /// People, and memberships of theirs with as many keys, and small numbers everywhere.
  private static let people = """
    CREATE TABLE users(id INTEGER PRIMARY KEY, login TEXT);
    CREATE TABLE members(id INTEGER PRIMARY KEY, user_id INTEGER, project_id INTEGER);
    CREATE TABLE projects(id INTEGER PRIMARY KEY, name TEXT);
    \(rows(40, into: "users", "i, 'x'"))
    \(rows(90, into: "members", "i, i % 40 + 1, i % 50 + 1"))
    \(rows(50, into: "projects", "i, 'x'"))
    """

  @Test(arguments: ["author_id", "assigned_to_id", "created_by", "owner", "approved_by_id"])
  func findsPeopleByARole(_ column: String) throws {
    let inspection = try TestDatabase(
      """
      \(RealNamesTests.people) CREATE TABLE news(id INTEGER PRIMARY KEY, \(column) INTEGER);
      \(rows(60, into: "news", "i, i % 40 + 1"))
      """
    ).inspect()
    #expect(inspection.likely("news", column)?.to == "users", "\(inspection.relationships)")
    #expect(inspection.found("news", column).count == 1)
  }

  /// Both have the values: neither is right until a person says so, and no rule is printed.
  @Test func asksWhichOfTwoTablesFits() throws {
    let inspection = try TestDatabase(
      """
      \(RealNamesTests.people) CREATE TABLE accounts(id INTEGER PRIMARY KEY, x TEXT);
      CREATE TABLE news(id INTEGER PRIMARY KEY, owner_id INTEGER);
      \(rows(40, into: "accounts", "i, 'x'")) \(rows(60, into: "news", "i, i % 30 + 1"))
      """
    ).inspect()
    let found = inspection.found("news", "owner_id")
    #expect(Set(found.map(\.to)) == ["users", "accounts"])
    #expect(found.allSatisfy { !$0.isLikely && $0.evidence.mentions("as well") })
    let text = SuggestedModel(inspection).text
    #expect(!text.mentions("a row of news") && !text.mentions(#"column: "owner_id""#))
    #expect(inspection.text(width: 100).mentions("? news.owner_id"))
  }

  @Test func takesTheTableThatTheValuesFit() throws {
    let inspection = try TestDatabase(
      """
      \(RealNamesTests.people) CREATE TABLE accounts(id INTEGER PRIMARY KEY, x TEXT);
      CREATE TABLE news(id INTEGER PRIMARY KEY, owner_id INTEGER);
      \(rows(9, into: "accounts", "i, 'x'")) \(rows(60, into: "news", "i, i % 30 + 1"))
      """
    ).inspect()
    #expect(inspection.likely("news", "owner_id")?.to == "users")
  }

  /// A parent may be in another table than its own, which has hardly any of the values.
  @Test func takesNoParentThatIsNotThere() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE posts(id INTEGER PRIMARY KEY, text TEXT);
      CREATE TABLE comments(id INTEGER PRIMARY KEY, parent_id INTEGER);
      \(rows(300, into: "posts", "i, 'x'")) \(rows(60, into: "comments", "i, i * 5"))
      """
    ).inspect()
    #expect(inspection.likely("comments", "parent_id") == nil)
    #expect(!SuggestedModel(inspection).text.mentions("deleteSourceIfDestinationDeleted"))
  }

  /// Redmine's. `documents.category_id` is not a category of issues, though its values are there.
  @Test(arguments: [
    ("issues", "status_id", "issue_statuses"), ("issues", "category_id", "issue_categories"),
    ("issue_relations", "issue_from_id", "issues"), ("issue_relations", "issue_to_id", "issues"),
    ("issues", "priority_id", "enumerations"), ("issues", "root_id", "issues"),
    ("member_roles", "inherited_from", "member_roles"), ("pages", "wiki_id", "wikis"),
    ("changeset_parents", "parent_id", "changesets"), ("documents", "category_id", nil),
    ("pages", "version", nil), ("wikis", "pages", nil),
  ]) func findsWhatAnIssueTrackerMeans(_ table: String, _ column: String, _ to: String?) throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE issues(id INTEGER PRIMARY KEY, status_id INTEGER, category_id INTEGER,
        priority_id INTEGER, root_id INTEGER);
      CREATE TABLE issue_statuses(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE issue_categories(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE issue_relations(id INTEGER PRIMARY KEY, issue_from_id INT, issue_to_id INT);
      CREATE TABLE enumerations(id INTEGER PRIMARY KEY, type TEXT, name TEXT);
      CREATE TABLE changesets(id INTEGER PRIMARY KEY, comments TEXT);
      CREATE TABLE changeset_parents(changeset_id INTEGER, parent_id INTEGER);
      CREATE TABLE member_roles(id INTEGER PRIMARY KEY, inherited_from INTEGER, x TEXT);
      CREATE TABLE wikis(id INTEGER PRIMARY KEY, pages INTEGER);
      CREATE TABLE wiki_contents(id INTEGER PRIMARY KEY, x TEXT);
      CREATE TABLE pages(id INTEGER PRIMARY KEY, wiki_id INTEGER, version INTEGER);
      CREATE TABLE versions(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE documents(id INTEGER PRIMARY KEY, category_id INTEGER);
      \(rows(80, into: "issues", "i, i % 6 + 1, i % 9 + 1, i % 4 + 1, i - i % 3 + 1"))
      \(rows(6, into: "issue_statuses", "i, 'x'")) \(rows(9, into: "issue_categories", "i, 'x'"))
      \(rows(20, into: "issue_relations", "i, i, i + 30"))
      INSERT INTO enumerations VALUES(1, 'IssuePriority', 'low'), (2, 'IssuePriority', 'high'),
        (3, 'IssuePriority', 'x'), (4, 'IssuePriority', 'y'), (5, 'TimeEntryActivity', 'z');
      \(rows(30, into: "changesets", "i, 'x'")) \(rows(20, into: "changeset_parents", "i + 1, i"))
      \(rows(30, into: "member_roles", "i, i % 20 + 1, 'x'"))
      \(rows(8, into: "wikis", "i, i % 3 + 1")) \(rows(20, into: "wiki_contents", "i, 'x'"))
      \(rows(20, into: "pages", "i, i % 8 + 1, i % 3 + 1")) \(rows(5, into: "versions", "i, 'x'"))
      \(rows(20, into: "documents", "i, i % 3 + 1"))
      """
    ).inspect()
    #expect(inspection.likely(table, column)?.to == to, "\(inspection.found(table, column))")
  }

  /// MediaWiki's: each column has the prefix of its table, which is no part of its name.
  @Test(arguments: [
    ("revision", "rev_page", "page"), ("revision", "rev_actor", "actor"),
    ("revision", "rev_parent_id", "revision"), ("revision", "rev_comment_id", "comment"),
    ("change_tag", "ct_rev_id", "revision"), ("change_tag", "ct_tag_id", nil),
    ("pagelinks", "pl_from", "page"), ("user_groups", "ug_user", "user"),
    ("revision", "rev_id", nil), ("page", "page_len", nil), ("page", "page_id", nil),
  ]) func readsNamesWithoutTheirPrefix(_ table: String, _ column: String, _ to: String?) throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE page(page_id INTEGER PRIMARY KEY, page_title TEXT, page_len INTEGER);
      CREATE TABLE revision(rev_id INTEGER PRIMARY KEY, rev_page INTEGER, rev_actor INTEGER,
        rev_parent_id INTEGER, rev_comment_id INTEGER);
      CREATE TABLE actor(actor_id INTEGER PRIMARY KEY, actor_name TEXT);
      CREATE TABLE user(user_id INTEGER PRIMARY KEY, user_name TEXT);
      CREATE TABLE user_groups(ug_user INTEGER, ug_group TEXT, PRIMARY KEY(ug_user, ug_group));
      CREATE TABLE comment(comment_id INTEGER PRIMARY KEY, comment_text TEXT);
      CREATE TABLE change_tag(ct_id INTEGER PRIMARY KEY, ct_rev_id INTEGER, ct_tag_id INTEGER);
      CREATE TABLE change_tag_def(ctd_id INTEGER PRIMARY KEY, ctd_name TEXT);
      CREATE TABLE pagelinks(pl_from INTEGER, pl_title TEXT, PRIMARY KEY(pl_from, pl_title));
      \(rows(60, into: "page", "i, 'x' || i, i % 50")) \(rows(12, into: "user", "i, 'u' || i"))
      \(rows(200, into: "revision", "i, i % 60 + 1, i % 12 + 1, i - 1, i % 90 + 1"))
      \(rows(12, into: "actor", "i, 'a' || i")) \(rows(90, into: "comment", "i, 'c' || i"))
      \(rows(12, into: "user_groups", "i, 'sysop'"))
      \(rows(40, into: "change_tag", "i, i * 4, i % 4 + 1"))
      \(rows(4, into: "change_tag_def", "i, 't' || i"))
      \(rows(60, into: "pagelinks", "i, 'x' || i"))
      """
    ).inspect()
    #expect(inspection.likely(table, column)?.to == to, "\(inspection.found(table, column))")
  }

  /// A row that extends another one has its key as its own.
  @Test func findsTheRowThatARowExtends() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE cms_page(id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE cms_site(id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE blog_post(page_ptr_id INTEGER PRIMARY KEY, body TEXT);
      \(rows(30, into: "cms_page", "i, 'x'")) \(rows(9, into: "cms_site", "i, 'x'"))
      INSERT INTO blog_post SELECT id, 'x' FROM cms_page WHERE id % 2;
      """
    ).inspect()
    #expect(inspection.likely("blog_post", "page_ptr_id")?.to == "cms_page")
  }
}

/// Pairs of a key and the type that says its table.
@Suite struct TypedReferenceTests {
  /// Django names the type by the key of a row that names the table.
  private static let contentTypes = """
    CREATE TABLE django_content_type(id INTEGER PRIMARY KEY, app_label TEXT, model TEXT);
    CREATE TABLE blog_post(id INTEGER PRIMARY KEY, title TEXT);
    CREATE TABLE blog_author(id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE reversion(id INTEGER PRIMARY KEY, object_id TEXT, content_type_id INTEGER);
    CREATE TABLE refs(id INTEGER PRIMARY KEY, to_object_id TEXT, to_content_type_id INTEGER);
    INSERT INTO django_content_type VALUES(1, 'auth', 'gone'), (7, 'blog', 'post'),
      (8, 'blog', 'author');
    \(rows(30, into: "blog_post", "i, 'x'")) \(rows(9, into: "blog_author", "i, 'x'"))
    \(rows(30, into: "reversion", "i, i, 7")) \(rows(10, into: "refs", "i, i, 8"))
    INSERT INTO reversion VALUES(31, '3', 1), (32, '99', 7);
    """

  @Test func findsTypesThatRowsOfATableStandFor() throws {
    let inspection = try TestDatabase(TypedReferenceTests.contentTypes).inspect()
    let post = try #require(
      inspection.found("reversion", "object_id", "content_type_id").first)
    #expect(post.found == .typed && post.to == "blog_post" && post.isLikely)
    #expect(post.rows == 31 && post.orphans == 1)
    #expect(post.evidence.mentions("which django_content_type calls blog.post"))
    let author = inspection.found("refs", "to_object_id", "to_content_type_id")
    #expect(author.map(\.to) == ["blog_author"] && author.map(\.orphans) == [1])
    let type = inspection.likely("reversion", "content_type_id")
    #expect(type?.to == "django_content_type")
    let text = SuggestedModel(inspection).text
    #expect(text.mentions(#"to: { "7": "blog_post" }"#))
  }

  private static let comments = """
    CREATE TABLE posts(id INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE subjects(id INTEGER PRIMARY KEY, text TEXT);
    CREATE TABLE comments(id INTEGER PRIMARY KEY, subject_id INTEGER, subject_type TEXT);
    \(rows(20, into: "posts", "i, 'x'")) \(rows(20, into: "subjects", "i, 'x'"))
    """

  /// Nothing is said before there is a type, least of all that the key is of a table named so.
  @Test func waitsForTypes() throws {
    let inspection = try TestDatabase(TypedReferenceTests.comments).inspect()
    #expect(inspection.relationships.isEmpty)
  }

  @Test func saysWhichTypesNameNoTable() throws {
    let inspection = try TestDatabase(
      """
      \(TypedReferenceTests.comments) \(rows(20, into: "comments", "i, i, 'Post'"))
      INSERT INTO comments VALUES(30, 4, 'Principal'), (31, 6, NULL);
      """
    ).inspect()
    let found = inspection.found("comments", "subject_id", "subject_type")
    #expect(found.map(\.to) == ["posts"] && found.map(\.rows) == [20])
    #expect(found[0].evidence.mentions("other types, which name no table: Principal"))
    #expect(SuggestedModel(inspection).text.mentions("add those that may come"))
  }

  /// A type of which there is one row in thousands.
  @Test func findsARareType() throws {
    let inspection = try TestDatabase(
      """
      CREATE TABLE posts(id INTEGER PRIMARY KEY, text TEXT);
      CREATE TABLE photos(id INTEGER PRIMARY KEY, text TEXT);
      CREATE TABLE comments(id INTEGER PRIMARY KEY, subject_id INTEGER, subject_type TEXT);
      \(rows(20, into: "posts", "i, 'x'")) \(rows(20, into: "photos", "i, 'x'"))
      \(rows(5000, into: "comments", "i, i % 20 + 1, iif(i = 1777, 'Photo', 'Post')"))
      """
    ).inspect()
    let found = inspection.found("comments", "subject_id", "subject_type")
    #expect(found.map(\.to) == ["photos", "posts"] && found.map(\.rows) == [1, 4999])
  }
}
