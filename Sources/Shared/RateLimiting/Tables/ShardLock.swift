#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A lock that any running thread can take as soon as it is free. A new lock consists of zeroes. The lock must not move in memory.
///
/// The standard library's `Mutex` isn't used, because on Linux it passes ownership to the first waiting thread, even if that thread isn't
/// running. With more threads than cores, each decision would then need a context switch, and would take several times as long.
struct ShardLock {
    #if canImport(Darwin)
        fileprivate var primitive = os_unfair_lock()
    #else
        fileprivate var primitive = pthread_mutex_t()
    #endif
}

/// The methods use a pointer, not `inout`, because a thread that waits for the lock doesn't have exclusive access to it.
extension UnsafeMutablePointer<ShardLock> {
    /// Waits for the lock and takes it. A thread must not take the same lock twice.
    @inline(__always)
    func take() {
        #if canImport(Darwin)
            os_unfair_lock_lock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: os_unfair_lock.self))
        #else
            // Ignore the result. The call can fail only for an uninitialized mutex or an error-checking mutex.
            pthread_mutex_lock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: pthread_mutex_t.self))
        #endif
    }

    /// Releases the lock. Only the thread that took the lock may call this method.
    @inline(__always)
    func release() {
        #if canImport(Darwin)
            os_unfair_lock_unlock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: os_unfair_lock.self))
        #else
            pthread_mutex_unlock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: pthread_mutex_t.self))
        #endif
    }
}
