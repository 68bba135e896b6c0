// The part of libpq that the module Postgres calls, found with dlopen on first use. A service without PostgreSQL needs no libpq, and no build
// does. The interface is stable since libpq.so.5 (2006); a test compares what is declared here with <libpq-fe.h> where
// that is installed.
#ifndef PAWL_CPOSTGRES_H
#define PAWL_CPOSTGRES_H

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned int Oid;
typedef void (*PQnoticeProcessor)(void *argument, const char *message);

typedef struct {
    char *keyword;
    char *envvar;
    char *compiled;
    char *val;
    char *label;
    char *dispchar;
    int dispsize;
} PQconninfoOption;

typedef struct PGnotify {
    char *relname;
    int be_pid;
    char *extra;
    struct PGnotify *next;
} PGnotify;

// Every constant is written as `NAME = number`, one per line, because the test reads this file.
typedef enum {
    CONNECTION_OK = 0,
    CONNECTION_BAD = 1,
} ConnStatusType;

typedef enum {
    PGRES_POLLING_FAILED = 0,
    PGRES_POLLING_READING = 1,
    PGRES_POLLING_WRITING = 2,
    PGRES_POLLING_OK = 3,
} PostgresPollingStatusType;

typedef enum {
    PGRES_EMPTY_QUERY = 0,
    PGRES_COMMAND_OK = 1,
    PGRES_TUPLES_OK = 2,
    PGRES_BAD_RESPONSE = 5,
    PGRES_FATAL_ERROR = 7,
    PGRES_SINGLE_TUPLE = 9,
    PGRES_PIPELINE_SYNC = 10,
    PGRES_PIPELINE_ABORTED = 11,
} ExecStatusType;

// Fields of an error.
enum {
    PG_DIAG_SEVERITY_NONLOCALIZED = 86,
    PG_DIAG_SQLSTATE = 67,
    PG_DIAG_MESSAGE_PRIMARY = 77,
};

// How loading went.
typedef enum {
    PAWL_LIBPQ_LOADED,
    // dlopen found no such library; `reason` is what it says.
    PAWL_LIBPQ_NOT_FOUND,
    // There is one, without the function that `reason` names. The version is known if PQlibVersion is there.
    PAWL_LIBPQ_INCOMPLETE,
} pawl_libpq_outcome;

// Loads the library of this name, and leaves it loaded. `version` becomes PQlibVersion's result: 150017 is 15.17; 0 if it is unknown.
// `reason` is valid until the next call of dlopen's family on this thread. Not to be called by two threads at once, nor, once a
// library was loaded, for another.
pawl_libpq_outcome pawl_load_libpq(const char *name, int *version, const char **reason);

// Each function of libpq, with `pawl_` before its name. To be called only after a library was loaded.
#define FUNCTION(result, name, parameters, arguments) result pawl_##name parameters;
#include "functions.h"
#undef FUNCTION

// Has the connection drop the notices that libpq would write to the standard error stream.
void pawl_drop_notices(PGconn *connection);

#endif
