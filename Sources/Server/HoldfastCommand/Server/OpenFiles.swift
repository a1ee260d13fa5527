import Foundation

/// How many files and connections the system lets the process have open at once.
enum OpenFiles {
    /// Raises the limit as far as the process may.
    /// - Returns: The limit.
    static func raiseLimit() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
            let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
            let resource = RLIMIT_NOFILE
        #endif
        guard getrlimit(resource, &limit) == 0 else { return 1_024 }
        // More than any server needs; some systems name no number.
        let wanted = min(limit.rlim_max, 65_536)
        if limit.rlim_cur < wanted {
            limit.rlim_cur = wanted
            if setrlimit(resource, &limit) != 0 { getrlimit(resource, &limit) }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
