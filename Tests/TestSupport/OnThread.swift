#if os(Linux) || os(macOS)
    import Foundation

    /// Runs work that blocks on a new thread, because a test must not block a thread of the concurrency pool.
    public func onThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            Thread { continuation.resume(with: Result { try work() }) }.start()
        }
    }
#endif
