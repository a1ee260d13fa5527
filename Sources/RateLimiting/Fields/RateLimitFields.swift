/// The fields by which a server tells its limits (draft-ietf-httpapi-ratelimit-headers-10), in strict form.
///
/// Times are whole seconds, rounded up. A character of a name that a structured field can't carry becomes `_`.
public enum RateLimitFields {
    /// The name of the field that tells the policies.
    public static let policyName = "RateLimit-Policy"
    /// The name of the field that tells what is left.
    public static let limitName = "RateLimit"

    /// The value for policies: `"reset-email";q=3;w=3600`.
    public static func policies(_ policies: [RateLimitPolicy]) -> String {
        policies.map { "\(quoted($0.name));q=\($0.quota);w=\(max(1, $0.window.wholeSeconds))" }.joined(separator: ", ")
    }

    /// The value for what is left under one policy: `"reset-email";r=2;t=1200`.
    /// - Parameters:
    ///   - policy: The policy.
    ///   - remaining: How many units are left; a negative number counts as 0.
    ///   - reset: The time until there are more.
    public static func limit(_ policy: RateLimitPolicy, remaining: Int, reset: Duration) -> String {
        "\(quoted(policy.name));r=\(max(0, remaining));t=\(max(0, reset.wholeSeconds))"
    }

    /// The value for the visible policies of an answer; `nil` if there are none.
    public static func policies(of answer: RateLimitAnswer) -> String? {
        let visible = answer.limits.filter(\.isVisible)
        return visible.isEmpty ? nil : policies(visible.map(\.policy))
    }

    /// The value for what is left under the visible policies of an answer; `nil` if there are none.
    public static func limits(of answer: RateLimitAnswer) -> String? {
        let visible = answer.limits.filter(\.isVisible)
        guard !visible.isEmpty else { return nil }
        return visible.map { limit($0.policy, remaining: $0.remaining, reset: $0.reset) }.joined(separator: ", ")
    }

    private static func quoted(_ name: String) -> String {
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
