import CLibPQ

/// A request to cancel the running statement of a connection. It is the only object of a connection that another thread may use.
final class PGCancellation: @unchecked Sendable {
    // This is safe: libpq documents that any thread may call PQcancel, and only one thread uses each value.
    private let handle: OpaquePointer

    init?(_ connection: OpaquePointer) {
        guard let handle = PQgetCancel(connection) else { return nil }
        self.handle = handle
    }

    deinit {
        PQfreeCancel(handle)
    }

    /// Sends the request. The call blocks until the server has accepted the request. If the server hangs, this may never happen.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        _ = PQcancel(handle, &message, Int32(message.count))
    }
}
