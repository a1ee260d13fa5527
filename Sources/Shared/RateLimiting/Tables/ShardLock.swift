#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A lock that is available to any running thread. The lock is initialized to zeroes and must not move.
///
/// On Linux, the standard library's `Mutex` passes ownership to the first waiter, even if the waiter's thread is not running. With more
/// threads than cores, each decision then needs a context switch, and takes several times the usual time.
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
            // The call fails only for an uninitialized mutex or an error-checking mutex.
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
