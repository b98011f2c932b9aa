// What a program costs that has no library: it counts the albums by SQLite alone, and rests in an
// asynchronous function.
//
//   bare DB
import CSQLite
import Glibc

@main
struct Bare {
  static func main() async throws {
    var database: OpaquePointer?
    var statement: OpaquePointer?
    sqlite3_open_v2(
      CommandLine.arguments[1], &database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, nil)
    sqlite3_prepare_v2(database, "SELECT count(*) FROM album", -1, &statement, nil)
    precondition(sqlite3_step(statement) == SQLITE_ROW, "nothing was read")
    sqlite3_reset(statement)
    print("read")
    fflush(stdout)
    while true { try await Task.sleep(for: .seconds(60)) }
  }
}
