#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The descriptors that the process may have open.
enum Descriptors {
    /// The error if the process may not open enough descriptors.
    struct TooFew: Error, CustomStringConvertible {
        var most: UInt64
        var needed: UInt64
        var description: String { "\(needed) descriptors are needed and \(most) allowed: raise the hard limit (ulimit -Hn)" }
    }

    /// Raises the limit as far as the process may.
    ///
    /// Too few descriptors end the process: on Linux libdispatch opens `/proc/self/task/…/stat` to see how busy its threads are, and
    /// stops the process (signal 4) if it can't.
    /// - Throws: ``TooFew`` if the limit is still too low.
    static func allow(_ needed: UInt64) throws {
        var limit = rlimit()
        #if canImport(Darwin)
            let descriptors = RLIMIT_NOFILE
        #else
            let descriptors = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #endif
        getrlimit(descriptors, &limit)
        guard limit.rlim_cur < needed else { return }
        guard limit.rlim_max >= needed else { throw TooFew(most: UInt64(limit.rlim_max), needed: needed) }
        limit.rlim_cur = rlim_t(needed)
        setrlimit(descriptors, &limit)
    }
}
