#include "allocations.h"

#ifdef __linux__

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

// Defined in the executable, these functions replace those of the C library for all libraries of the process.

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static atomic_bool counting;
static _Atomic uint64_t count;
static _Atomic uint64_t bytes;
static __thread bool excluded __attribute__((tls_model("initial-exec")));

static inline void note(size_t size) {
    if (!atomic_load_explicit(&counting, memory_order_relaxed) || excluded) return;
    atomic_fetch_add_explicit(&count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes, size, memory_order_relaxed);
}

void *malloc(size_t size) {
    note(size);
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    note(number * size);
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    note(size);
    return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
    note(size);
    return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) != 0 || (alignment & (alignment - 1)) != 0) return EINVAL;
    void *new = memalign(alignment, size);
    if (new == NULL) return ENOMEM;
    *block = new;
    return 0;
}

bool can_count_allocations(void) { return true; }

struct allocations current_allocations(void) {
    return (struct allocations){atomic_load(&count), atomic_load(&bytes)};
}

void count_allocations(bool is_counting) { atomic_store(&counting, is_counting); }

void exclude_this_thread(void) { excluded = true; }

#else

bool can_count_allocations(void) { return false; }

struct allocations current_allocations(void) { return (struct allocations){0, 0}; }

void count_allocations(bool is_counting) {}

void exclude_this_thread(void) {}

#endif
