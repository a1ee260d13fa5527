#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A lock that any running thread can take. It is initialized to zeroes and must not move.
///
/// The standard library's `Mutex` passes ownership to the first waiter on Linux, which may not be running. With more threads
/// than cores, each decision then takes a context switch and several times as long.
struct ShardLock {
    #if canImport(Darwin)
        fileprivate var primitive = os_unfair_lock()
    #else
        fileprivate var primitive = pthread_mutex_t()
    #endif
}

/// Uses the pointer, never `inout`: two threads that take a lock don't have exclusive access to it yet.
extension UnsafeMutablePointer<ShardLock> {
    @inline(__always)
    func take() {
        #if canImport(Darwin)
            os_unfair_lock_lock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: os_unfair_lock.self))
        #else
            // Fails only for an uninitialized mutex or one of an error-checking kind.
            pthread_mutex_lock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: pthread_mutex_t.self))
        #endif
    }

    @inline(__always)
    func release() {
        #if canImport(Darwin)
            os_unfair_lock_unlock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: os_unfair_lock.self))
        #else
            pthread_mutex_unlock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: pthread_mutex_t.self))
        #endif
    }
}
