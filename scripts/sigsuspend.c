// Is preloaded under Valgrind, which changes the mask that a program passes to sigsuspend. libdispatch passes a read-only mask, and Valgrind would crash.
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

int sigsuspend(const sigset_t *mask) {
    sigset_t copy = *mask;
    return (int)syscall(SYS_rt_sigsuspend, &copy, 8L);
}
