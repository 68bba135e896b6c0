// Programs as children that do not outlive this process.
#ifndef PAWL_CHILD_H
#define PAWL_CHILD_H

#include <sys/types.h>

typedef struct {
    // Of the executable, not looked for in PATH.
    const char *path;
    // Both end with NULL.
    char *const *arguments;
    char *const *environment;
    // Where it begins.
    const char *directory;
    // Whether it gives up root's rights to become this user, with this group alone.
    int changes_user;
    uid_t user;
    gid_t group;
    // What the kernel sends it when the thread that started it has ended (PR_SET_PDEATHSIG).
    int death_signal;
} pawl_child;

// Starts a program in a process group of its own, with all signals as they are by default, no standard input, and none of the parent's
// descriptors. Its standard output and standard error are a pipe, whose other end becomes *output. Returns 0, or the errno of what failed,
// also in the child before it became the program.
int pawl_spawn(const pawl_child *child, pid_t *identifier, int *output);

#endif
