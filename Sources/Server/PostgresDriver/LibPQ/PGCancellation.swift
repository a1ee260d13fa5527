import CLibPQ

/// A request to cancel what a connection executes. It is the one object of a connection that another thread may use.
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

    /// Sends the request. Blocks until the server has taken it: forever if it has stopped.
    func send() {
        var message = [CChar](repeating: 0, count: 256)
        _ = PQcancel(handle, &message, Int32(message.count))
    }
}
