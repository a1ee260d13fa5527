#pragma once

#include <stddef.h>

#ifdef __APPLE__
#include <malloc/malloc.h>

static inline size_t allocated_bytes(void) { return mstats().bytes_used; }
#else
#include <malloc.h>

// The allocated bytes, including the allocator's overhead, without its reserve.
static inline size_t allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif
