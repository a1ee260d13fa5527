/// What a policy counts (draft-ietf-httpapi-ratelimit-headers-10, section 3.1.2).
public struct QuotaUnit: RawRepresentable, Hashable, Sendable {
    /// The name in the draft's registry.
    public let rawValue: String

    /// Takes a name, registered or not.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Requests.
    public static let requests = QuotaUnit(rawValue: "requests")
    /// Bytes of content.
    public static let contentBytes = QuotaUnit(rawValue: "content-bytes")
    /// Requests that run at once.
    public static let concurrentRequests = QuotaUnit(rawValue: "concurrent-requests")
}
