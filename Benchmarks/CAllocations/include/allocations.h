#pragma once

#include <stdbool.h>
#include <stdint.h>

/// Allocations since the process started, and the bytes that they requested.
struct allocations {
    uint64_t count;
    uint64_t bytes;
};

/// Returns whether this platform can count allocations.
bool can_count_allocations(void);

/// Returns the allocations of all threads that are not excluded.
struct allocations current_allocations(void);

/// Starts or stops counting.
void count_allocations(bool is_counting);

/// Excludes the calling thread from the count.
void exclude_this_thread(void);
