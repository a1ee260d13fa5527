#pragma once

#include <stddef.h>

#ifdef __APPLE__
#include <malloc/malloc.h>

static inline size_t allocated_bytes(void) { return mstats().bytes_used; }
#else
#include <malloc.h>

// What is allocated, with what the allocator needs beside it; what it keeps in reserve isn't.
static inline size_t allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}
#endif
