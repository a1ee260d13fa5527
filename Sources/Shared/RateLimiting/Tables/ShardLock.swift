#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A lock that any running thread can take. It is initialized to zeroes and must not move.
///
/// On Linux, the standard library's `Mutex` passes ownership to the first waiter, and this thread may not be running. If there are more
/// threads than cores, each decision then takes a context switch, and several times the usual time.
struct ShardLock {
    #if canImport(Darwin)
        fileprivate var primitive = os_unfair_lock()
    #else
        fileprivate var primitive = pthread_mutex_t()
    #endif
}

/// The methods use a pointer, not `inout`: a thread that tries to take a lock doesn't have exclusive access to it yet.
extension UnsafeMutablePointer<ShardLock> {
    @inline(__always)
    func take() {
        #if canImport(Darwin)
            os_unfair_lock_lock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: os_unfair_lock.self))
        #else
            // This fails only for an uninitialized mutex or an error-checking mutex.
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
