#include "CSQLite.h"

#include <stddef.h>

typedef void (*destructor)(void *);
#define TRANSIENT ((destructor)(intptr_t)-1)

int sqlite3_bind_text(sqlite3_stmt *, int, const char *, int, destructor);
int sqlite3_bind_blob(sqlite3_stmt *, int, const void *, int, destructor);

int pawl_sqlite_bind_text(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_text(statement, index, bytes == NULL ? "" : bytes, count, TRANSIENT);
}

int pawl_sqlite_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes == NULL ? "" : bytes, count, TRANSIENT);
}
