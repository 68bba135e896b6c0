// The part of SQLite's C interface that the store calls. It is declared here because the library is present wherever Swift
// is, but its header is not. The interface is stable: https://www.sqlite.org/capi3ref.html
#ifndef PAWL_CSQLITE_H
#define PAWL_CSQLITE_H

#include <stdint.h>

typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;

// Result codes. The low byte of an extended code is the primary one.
enum {
    PAWL_SQLITE_OK = 0,
    PAWL_SQLITE_ERROR = 1,
    PAWL_SQLITE_PERM = 3,
    PAWL_SQLITE_BUSY = 5,
    PAWL_SQLITE_LOCKED = 6,
    PAWL_SQLITE_NOMEM = 7,
    PAWL_SQLITE_READONLY = 8,
    PAWL_SQLITE_IOERR = 10,
    PAWL_SQLITE_CORRUPT = 11,
    PAWL_SQLITE_FULL = 13,
    PAWL_SQLITE_CANTOPEN = 14,
    PAWL_SQLITE_CONSTRAINT = 19,
    PAWL_SQLITE_MISUSE = 21,
    PAWL_SQLITE_AUTH = 23,
    PAWL_SQLITE_NOTADB = 26,
    PAWL_SQLITE_ROW = 100,
    PAWL_SQLITE_DONE = 101,
};

// Flags of sqlite3_open_v2.
enum {
    PAWL_SQLITE_OPEN_READWRITE = 0x00000002,
    PAWL_SQLITE_OPEN_CREATE = 0x00000004,
    PAWL_SQLITE_OPEN_NOMUTEX = 0x00008000,
    PAWL_SQLITE_OPEN_NOFOLLOW = 0x01000000,
};

// Flag of sqlite3_prepare_v3: the statement will be used many times.
enum { PAWL_SQLITE_PREPARE_PERSISTENT = 0x01 };

// Storage classes of a column's value.
enum { PAWL_SQLITE_INTEGER = 1, PAWL_SQLITE_FLOAT = 2, PAWL_SQLITE_TEXT = 3, PAWL_SQLITE_BLOB = 4, PAWL_SQLITE_NULL = 5 };

// The name of SQLite's usual file system interface, but with paths taken as they are. The usual one looks up links in a path when a
// database is opened, and uses the path that this yields from then on; so a path through /proc/self/fd would not stay one. NULL, which
// stands for the usual one, if this SQLite has another interface.
const char *pawl_sqlite_unresolved(void);

int sqlite3_open_v2(const char *path, sqlite3 **database, int flags, const char *vfs);
int sqlite3_close_v2(sqlite3 *database);
int sqlite3_extended_result_codes(sqlite3 *database, int on);
int sqlite3_extended_errcode(sqlite3 *database);
int sqlite3_system_errno(sqlite3 *database);
const char *sqlite3_errmsg(sqlite3 *database);
int sqlite3_busy_timeout(sqlite3 *database, int milliseconds);
int sqlite3_get_autocommit(sqlite3 *database);

int sqlite3_exec(
    sqlite3 *database, const char *sql, int (*row)(void *, int, char **, char **), void *context, char **message);
int sqlite3_prepare_v3(sqlite3 *database, const char *sql, int length, unsigned flags, sqlite3_stmt **statement, const char **tail);
int sqlite3_step(sqlite3_stmt *statement);
int sqlite3_reset(sqlite3_stmt *statement);
int sqlite3_clear_bindings(sqlite3_stmt *statement);
int sqlite3_finalize(sqlite3_stmt *statement);
int sqlite3_bind_int64(sqlite3_stmt *statement, int index, int64_t value);
int sqlite3_bind_null(sqlite3_stmt *statement, int index);

// The values of a row are read only by the thread that has the connection, so they need no protection by its mutex
// (https://www.sqlite.org/c3ref/column_blob.html). Each value is looked up once.
typedef struct sqlite3_value sqlite3_value;
sqlite3_value *sqlite3_column_value(sqlite3_stmt *statement, int column);
int sqlite3_value_type(sqlite3_value *value);
int64_t sqlite3_value_int64(sqlite3_value *value);
const unsigned char *sqlite3_value_text(sqlite3_value *value);
const void *sqlite3_value_blob(sqlite3_value *value);
int sqlite3_value_bytes(sqlite3_value *value);

// sqlite3_bind_text and sqlite3_bind_blob with SQLITE_TRANSIENT, a pointer constant that Swift cannot import: SQLite copies
// the bytes. An empty blob stays a blob, rather than becoming NULL.
int pawl_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count);
int pawl_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count);

#endif
