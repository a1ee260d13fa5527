/// The gates and circuits of a client.
public struct ClientGates: Sendable {
    let tables: [GateTable]

    init(_ middleware: [any ClientMiddleware]) {
        tables = middleware.compactMap { ($0 as? GateMiddleware)?.table ?? ($0 as? BreakerMiddleware)?.table }
    }

    /// How many are not wide open.
    public var count: Int { tables.reduce(0) { $0 + $1.count } }

    /// Opens the gates and circuits of a host early: one call is let through as a probe at once, and its success lets the others follow.
    ///
    /// Call it when the app knows more than the client, such as after the user fixed the network.
    /// - Parameter host: The host, such as `api.example.com`, with its port if that is not the default; `nil` for all hosts.
    public func reopen(host: String? = nil) {
        for table in tables { table.reopen { origin in host.map { origin.hasSuffix("://\($0)") } ?? true } }
    }
}
