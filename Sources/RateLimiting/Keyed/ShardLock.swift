#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// A lock that whoever is awake may take. It must stay where it was made.
///
/// The standard library's `Mutex` hands itself over to the first waiter on Linux, who may not be running: with more threads than
/// cores each decision then takes a change of threads, and twenty times as long.
struct ShardLock: ~Copyable {
    #if canImport(Darwin)
        private var lock = os_unfair_lock()

        mutating func take() { os_unfair_lock_lock(&lock) }
        mutating func release() { os_unfair_lock_unlock(&lock) }
    #else
        private var lock = pthread_mutex_t()

        /// Fails only for locks that were never made, or are held by the caller under a kind of lock that looks for it.
        @inline(__always)
        mutating func take() { pthread_mutex_lock(&lock) }
        @inline(__always)
        mutating func release() { pthread_mutex_unlock(&lock) }
    #endif
}
