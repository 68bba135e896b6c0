#define _GNU_SOURCE

#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

// The child's side. It makes only calls that are safe between fork and exec in a process with threads
// (signal-safety(7)).
static int become(const pawl_child *child, int output, pid_t parent) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    // Signals from the terminal must not reach the child: the parent ends its children in its own order.
    if (setpgid(0, 0) != 0) return errno;
    if (chdir(child->directory) != 0) return errno;
    if (child->changes_user && (setgroups(0, NULL) != 0 || setgid(child->group) != 0 || setuid(child->user) != 0)) return errno;
    // After the change of user, which would reset it.
    if (prctl(PR_SET_PDEATHSIG, child->death_signal) != 0) return errno;
    if (getppid() != parent) return ESRCH;
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0) return errno;
    if (dup2(nothing, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0) return errno;
    // Some of the parent's descriptors lack O_CLOEXEC. Kernels before 5.11 refuse the flag and leave them open, which
    // does little harm.
    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC);
    sigprocmask(SIG_SETMASK, &none, NULL);
    execve(child->path, child->arguments, child->environment);
    return errno;
}

// Becomes the program, or reports the error. The pipes' ends are moved off the standard descriptors, which the parent
// may have closed.
static void begin(const pawl_child *child, int output, int report, pid_t parent) {
    output = fcntl(output, F_DUPFD_CLOEXEC, 3);
    report = fcntl(report, F_DUPFD_CLOEXEC, 3);
    int error = output < 0 || report < 0 ? errno : become(child, output, parent);
    ssize_t written = write(report, &error, sizeof error);
    _exit(written == sizeof error ? 127 : 126);
}

int pawl_spawn(const pawl_child *child, pid_t *identifier, int *output) {
    int lines[2];
    if (pipe2(lines, O_CLOEXEC) != 0) return errno;
    // A pipe that closes when the child becomes the program. Before that, the child can write an errno to it.
    int report[2];
    int error = pipe2(report, O_CLOEXEC) != 0 ? errno : 0;
    if (error == 0) {
        pid_t parent = getpid();
        // The parent's handlers must not run in the child.
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        pid_t forked = fork();
        if (forked == 0) begin(child, lines[1], report[1], parent);
        error = forked < 0 ? errno : 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        close(report[1]);
        if (error == 0) {
            ssize_t count;
            do count = read(report[0], &error, sizeof error);
            while (count < 0 && errno == EINTR);
            if (count != sizeof error) error = 0;
            *identifier = forked;
            if (error != 0) while (waitpid(forked, NULL, 0) < 0 && errno == EINTR) {}
        }
        close(report[0]);
    }
    close(lines[1]);
    *output = lines[0];
    if (error != 0) close(lines[0]);
    return error;
}
