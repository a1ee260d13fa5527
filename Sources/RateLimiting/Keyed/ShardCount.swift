#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How many locks a limiter spreads its keys over: a power of two, at least the cores, but none for fewer than 4 096 keys.
func shardCount(capacity: Int) -> Int {
    let cores = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN))))
    var count = 1
    while count < cores && capacity / (count * 2) >= 4_096 { count *= 2 }
    return count
}
