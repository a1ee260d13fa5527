/* Reports to ThreadSanitizer when a contended Mutex of Swift's Synchronization is acquired and released.
 *
 * The fast paths of Mutex are atomics that are compiled into its callers, and ThreadSanitizer sees them. The kernel passes on a contended lock
 * (FUTEX_LOCK_PI) within libswiftSynchronization, which isn't instrumented: writes under the lock seem unordered, and each contended Mutex seems to
 * be a race. This library is preloaded and wraps the two slow paths. `self` is the lock's word, the same address as that of the atomics. In
 * processes without the sanitizer it does nothing.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>

extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

typedef __attribute__((swiftcall)) void (*Lock)(uint32_t thread, __attribute__((swift_context)) void *self);
typedef __attribute__((swiftcall)) void (*Unlock)(__attribute__((swift_context)) void *self);

static Lock nextLock;
static Unlock nextUnlock;

__attribute__((constructor)) static void find(void) {
    nextLock = (Lock)dlsym(RTLD_NEXT, LOCK);
    nextUnlock = (Unlock)dlsym(RTLD_NEXT, UNLOCK);
}

__attribute__((swiftcall)) void lockSlow(uint32_t thread, __attribute__((swift_context)) void *self) __asm__(LOCK);
__attribute__((swiftcall)) void lockSlow(uint32_t thread, __attribute__((swift_context)) void *self) {
    if (!nextLock) find();
    nextLock(thread, self);
    if (__tsan_acquire) __tsan_acquire(self);
}

__attribute__((swiftcall)) void unlockSlow(__attribute__((swift_context)) void *self) __asm__(UNLOCK);
__attribute__((swiftcall)) void unlockSlow(__attribute__((swift_context)) void *self) {
    if (!nextUnlock) find();
    if (__tsan_release) __tsan_release(self);
    nextUnlock(self);
}
