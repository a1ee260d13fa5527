/// How one call differs from the policy of its endpoint.
///
/// ```swift
/// let page: Page = try await api.get("/api/orders?page=3", options: .waitsInLine)
/// ```
public struct CallOptions: Hashable, Sendable {
    /// Whether the call waits for a connection until its deadline; `nil` for the endpoint's policy.
    public var waitsForConnectivity: Bool?
    /// Whether the call waits in line until its deadline when the server limits it; `nil` for the endpoint's policy.
    public var waitsInLine: Bool?

    /// Creates options that change nothing.
    public init() {}

    /// The call waits for a connection until its deadline, instead of failing after a few retries.
    public static let waitsForConnectivity: CallOptions = {
        var options = CallOptions()
        options.waitsForConnectivity = true
        return options
    }()

    /// The call waits in line until its deadline when the server limits it or a gate is closed.
    public static let waitsInLine: CallOptions = {
        var options = CallOptions()
        options.waitsInLine = true
        return options
    }()

    func applied(to policy: EndpointPolicy) -> EndpointPolicy {
        guard waitsForConnectivity != nil || waitsInLine != nil else { return policy }
        var policy = policy
        if let waitsForConnectivity { policy.waitsForConnectivity = waitsForConnectivity }
        if let waitsInLine { policy.waitsInLine = waitsInLine }
        return policy
    }
}
