/// A store of users and their posts, which go with them.
enum PostsOfUsers {
  static func store(_ settings: String = "") throws -> TestStore {
    try TestStore(
      model: """
        { \(settings) collections: {
            users: { table: "user", key: "id" }, posts: { table: "post", key: "id" } },
          relationships: [
            { name: "user", from: "posts", to: "users", column: "user",
              rules: ["deleteSourceIfDestinationDeleted"] }] }
        """,
      schema: """
        CREATE TABLE user(id INTEGER PRIMARY KEY); CREATE TABLE post(id INTEGER PRIMARY KEY, user INTEGER);
        CREATE INDEX post_user ON post(user);
        INSERT INTO user VALUES(7), (8); INSERT INTO post VALUES(71, 7), (81, 8);
        """)
  }
}
