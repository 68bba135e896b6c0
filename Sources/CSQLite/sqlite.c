#include "CSQLite.h"

#include <pthread.h>
#include <stddef.h>
#include <string.h>

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

// https://www.sqlite.org/c3ref/vfs.html, version 3. Only one function is called or replaced here.
typedef struct vfs {
    int version, file_size, longest_path;
    struct vfs *next;
    const char *name;
    void *data;
    void (*open)(void), (*delete_file)(void), (*access)(void);
    int (*full_path)(struct vfs *, const char *path, int size, char *full);
    void (*others[12])(void);
} vfs;

vfs *sqlite3_vfs_find(const char *name);
int sqlite3_vfs_register(vfs *, int is_default);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static vfs unresolved;

static int take(vfs *self, const char *path, int size, char *full) {
    (void)self;
    size_t length = strlen(path);
    if (length >= (size_t)size) return PAWL_SQLITE_CANTOPEN;
    memcpy(full, path, length + 1);
    return PAWL_SQLITE_OK;
}

static void prepare(void) {
    vfs *usual = sqlite3_vfs_find("unix");
    if (usual == NULL || usual->version < 3) return;
    vfs copy = *usual;
    copy.version = 3;
    copy.next = NULL;
    copy.name = "pawl-unresolved";
    copy.full_path = take;
    unresolved = copy;
    if (sqlite3_vfs_register(&unresolved, 0) != PAWL_SQLITE_OK) unresolved.name = NULL;
}

const char *pawl_sqlite_unresolved(void) {
    pthread_once(&once, prepare);
    return unresolved.name;
}
