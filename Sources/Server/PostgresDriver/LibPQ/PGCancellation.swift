import CLibPQ

/// A request to cancel the running statement of a connection. It is the only object of a connection that another thread may use.
final class PGCancellation: @unchecked Sendable {
    // Safe: libpq documents PQcancel as callable from any thread, and one thread uses each value.
    private let handle: OpaquePointer

    init?(_ connection: OpaquePointer) {
        guard let handle = PQgetCancel(connection) else { return nil }
        self.handle = handle
    }

    deinit {
        PQfreeCancel(handle)
    }

    /// Sends the request. Blocks until the server has accepted it, which may be forever if the server hangs.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        _ = PQcancel(handle, &message, Int32(message.count))
    }
}
