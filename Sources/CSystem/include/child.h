// Child processes that do not outlive this process.
#ifndef PAWL_CHILD_H
#define PAWL_CHILD_H

#include <sys/types.h>

typedef struct {
    // The path of the executable; PATH is not searched.
    const char *path;
    // Both arrays end with NULL.
    char *const *arguments;
    char *const *environment;
    // The working directory.
    const char *directory;
    // Whether the child drops root's rights and becomes this user, with this group only.
    int changes_user;
    uid_t user;
    gid_t group;
    // The signal that the kernel sends the child when the thread that started it has ended (PR_SET_PDEATHSIG).
    int death_signal;
} pawl_child;

// Starts a program in a process group of its own, with default signal handling, no standard input and none of the
// parent's descriptors. *output becomes the read end of a pipe for its standard output and standard error. Returns 0,
// or the errno of the step that failed, in the parent or in the child before it became the program.
int pawl_spawn(const pawl_child *child, pid_t *identifier, int *output);

#endif
