#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A lock that whoever is awake may take. It is made of zeroes and must stay where it was made.
///
/// The standard library's `Mutex` hands itself over to the first waiter on Linux, who may not be running: with more threads than
/// cores each decision then takes a change of threads, and several times as long.
struct ShardLock {
    #if canImport(Darwin)
        fileprivate var primitive = os_unfair_lock()
    #else
        fileprivate var primitive = pthread_mutex_t()
    #endif
}

/// Through the place, never through `inout`: two threads that take one lock don't have exclusive access to it yet.
extension UnsafeMutablePointer<ShardLock> {
    @inline(__always)
    func take() {
        #if canImport(Darwin)
            os_unfair_lock_lock(UnsafeMutableRawPointer(self).assumingMemoryBound(to: os_unfair_lock.self))
        #else
            // It fails only for a lock that was never made, or of a kind that looks for its holder.
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
