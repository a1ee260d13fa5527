/// The fields by which a server tells its limits (draft-ietf-httpapi-ratelimit-headers-10), in strict form.
///
/// Times are whole seconds, rounded up. A character of a name that a structured field can't carry becomes `_`.
public enum RateLimitFields {
    /// The name of the field that tells the policies.
    public static let policyName = "RateLimit-Policy"
    /// The name of the field that tells what is left.
    public static let limitName = "RateLimit"
    /// The name of the field that tells a refused client when to come again (RFC 9110, section 10.2.3).
    public static let retryAfterName = "Retry-After"

    /// The fields for an answer: its visible policies and what is left of each, and `Retry-After` if it is a refusal that a wait
    /// helps. Empty if there is nothing to tell.
    public static func fields(of answer: RateLimitAnswer) -> [(name: String, value: String)] {
        [(policyName, policies(of: answer)), (limitName, limits(of: answer)), (retryAfterName, retryAfter(of: answer))]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    /// The value for policies: `"reset-email";q=3;w=3600`.
    public static func policies(_ policies: [RateLimitPolicy]) -> String {
        policies.map { policy($0, partitionKey: nil) }.joined(separator: ", ")
    }

    /// The value for one policy: `"bandwidth";q=65535;qu="content-bytes";w=10;pk=:cHJv:`. The unit is left out if it is requests.
    public static func policy(_ policy: RateLimitPolicy, partitionKey: [UInt8]?) -> String {
        let unit = policy.unit == .requests ? "" : ";qu=\(quoted(policy.unit.rawValue))"
        return "\(quoted(policy.name));q=\(policy.quota)\(unit);w=\(max(1, policy.window.wholeSeconds))\(key(partitionKey))"
    }

    /// The value for what is left under one policy: `"reset-email";r=2;t=1200`.
    /// - Parameters:
    ///   - policy: The policy.
    ///   - remaining: How many units are left; a negative number counts as 0.
    ///   - reset: The time until there are more.
    ///   - partitionKey: What tells the client's quota from others of the policy; it must tell nothing that is secret.
    public static func limit(
        _ policy: RateLimitPolicy,
        remaining: Int,
        reset: Duration,
        partitionKey: [UInt8]? = nil
    ) -> String {
        "\(quoted(policy.name));r=\(max(0, remaining));t=\(max(0, reset.wholeSeconds))\(key(partitionKey))"
    }

    /// The value for the visible policies of an answer; `nil` if there are none.
    public static func policies(of answer: RateLimitAnswer) -> String? {
        list(answer) { policy($0.policy, partitionKey: $0.partitionKey) }
    }

    /// The value for what is left under the visible policies of an answer; `nil` if there are none.
    public static func limits(of answer: RateLimitAnswer) -> String? {
        list(answer) { limit($0.policy, remaining: $0.remaining, reset: $0.reset, partitionKey: $0.partitionKey) }
    }

    /// The value of `Retry-After`: the longest wait of those that refuse, so that it is never before the `t` of one that is used
    /// up; `nil` if the request was admitted or no wait helps.
    public static func retryAfter(of answer: RateLimitAnswer) -> String? {
        answer.refusal?.retryAfter.map { String(max(1, $0.wholeSeconds)) }
    }

    private static func list(_ answer: RateLimitAnswer, _ item: (RateLimitAnswer.Limit) -> String) -> String? {
        let items = answer.limits.filter(\.isVisible).map(item)
        return items.isEmpty ? nil : items.joined(separator: ", ")
    }

    private static func key(_ bytes: [UInt8]?) -> String { bytes.map { ";pk=:\(Base64.encode($0)):" } ?? "" }

    private static func quoted(_ name: String) -> String {
        // Nearly all names are carried as they are, and each answer names some.
        if name.utf8.allSatisfy({ (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            return "\"\(name)\""
        }
        let characters = name.unicodeScalars.map { scalar in
            switch scalar {
            case "\"", "\\": "\\\(scalar)"
            case " "..."~": String(scalar)
            default: "_"
            }
        }
        return "\"\(characters.joined())\""
    }
}

extension Duration {
    /// The duration in seconds, rounded up.
    var wholeSeconds: Int64 { components.seconds + (components.attoseconds > 0 ? 1 : 0) }
}
