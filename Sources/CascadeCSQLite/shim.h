#pragma once
#include <sqlite3.h>

// SQLITE_TRANSIENT is a cast of -1 to a function pointer, which Swift does not import.
static inline int cascade_bind_text(sqlite3_stmt *statement, int index,
                                    const char *_Nullable text, sqlite3_uint64 count) {
  return sqlite3_bind_text64(statement, index, text ? text : "", count, SQLITE_TRANSIENT,
                             SQLITE_UTF8);
}

static inline int cascade_bind_blob(sqlite3_stmt *statement, int index,
                                    const void *_Nullable bytes, sqlite3_uint64 count) {
  return sqlite3_bind_blob64(statement, index, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

static inline void cascade_result_text(sqlite3_context *context, const void *_Nullable text,
                                       sqlite3_uint64 count) {
  sqlite3_result_text64(context, text ? text : "", count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline void cascade_result_blob(sqlite3_context *context, const void *_Nullable bytes,
                                       sqlite3_uint64 count) {
  sqlite3_result_blob64(context, bytes ? bytes : "", count, SQLITE_TRANSIENT);
}

// sqlite3_db_config is variadic, and variadic functions are not imported.
static inline int cascade_db_config(sqlite3 *database, int option, int value) {
  return sqlite3_db_config(database, option, value, (int *)0);
}

// sqlite3_config is variadic too.
//
// Counting memory takes a lock at each allocation, and nobody asks for the count. A savepoint's
// journal stays in memory up to `journal` bytes: once it went to a file, it stays there for the rest
// of the transaction, and every later savepoint writes its pages. SQLite writes what it had in memory
// at once, and no write of its may have 128 KiB: a larger limit ends as "database or disk is full".
static inline int cascade_configure(int journal) {
  int result = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  if (!result) result = sqlite3_config(SQLITE_CONFIG_PAGECACHE, (void *)0, 0, 0);
  return result ? result : sqlite3_config(SQLITE_CONFIG_STMTJRNL_SPILL, journal);
}
