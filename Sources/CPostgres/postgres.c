#include "CPostgres.h"

#include <dlfcn.h>
#include <stddef.h>

// Where the functions are, once they are loaded.
#define FUNCTION(result, name, parameters, arguments) result(*name) parameters;
static struct {
#include "functions.h"
} libpq;
#undef FUNCTION

pawl_libpq_outcome pawl_load_libpq(const char *name, int *version, const char **reason) {
    *version = 0;
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        *reason = dlerror();
        return PAWL_LIBPQ_NOT_FOUND;
    }
    // Present since 9.1; told first, since a missing function is best explained by the version.
    int (*library_version)(void) = (int (*)(void))dlsym(library, "PQlibVersion");
    if (library_version != NULL) *version = library_version();
#define FUNCTION(result, name, parameters, arguments) \
    if ((libpq.name = (result(*) parameters)dlsym(library, #name)) == NULL) { \
        *reason = #name; \
        return PAWL_LIBPQ_INCOMPLETE; \
    }
#include "functions.h"
#undef FUNCTION
    return PAWL_LIBPQ_LOADED;
}

#define FUNCTION(result, name, parameters, arguments) \
    result pawl_##name parameters { return libpq.name arguments; }
#include "functions.h"
#undef FUNCTION

static void drop_notice(void *argument, const char *message) {
    (void)argument;
    (void)message;
}

void pawl_drop_notices(PGconn *connection) { libpq.PQsetNoticeProcessor(connection, drop_notice, NULL); }
