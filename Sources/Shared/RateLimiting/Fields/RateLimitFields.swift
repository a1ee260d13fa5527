import Timekeeping

/// Encodes the header fields with which a server reports its limits, in the format of draft-ietf-httpapi-ratelimit-headers-10.
///
/// The fields contain times in whole seconds, rounded up. If the name of a policy contains characters that aren't allowed in a structured
/// field, each of these characters becomes `_`.
///
/// ```swift
/// for (name, value) in RateLimitFields.fields(of: limiter.admit(claims)) {
///     print("\(name): \(value)")
/// }
/// ```
public enum RateLimitFields {
    /// The name of the header field that describes the policies with their quotas and windows.
    public static let policyName = "RateLimit-Policy"
    /// The name of the header field that reports the remaining units under each policy.
    public static let limitName = "RateLimit"
    /// The name of the header field that reports the delay after which a refused client can retry (RFC 9110, section 10.2.3).
    public static let retryAfterName = "Retry-After"

    /// Returns the header fields for a result. The fields report the policies and the remaining units of the visible limits (see
    /// ``RateLimitResult/Limit/isVisible``). If the result is a refusal with a delay, `Retry-After` reports the delay. The array is empty
    /// if there are no visible limits and no delay.
    /// - Parameter result: The result of a call of `admit` or `check`, such as ``JointRateLimiter/admit(_:)``.
    public static func fields(of result: RateLimitResult) -> [(name: String, value: String)] {
        [(policyName, policies(of: result)), (limitName, limits(of: result)), (retryAfterName, retryAfter(of: result))]
            .compactMap { name, value in value.map { (name, $0) } }
    }

    /// Returns the field value that describes policies, such as `"reset-email";q=3;w=3600`.
    ///
    /// Use this method for policies without a decision, such as in documentation. For the policies of a decision, use ``policies(of:)``.
    /// - Parameter policies: The policies. The field value describes them in the same order, and is empty if there are no policies.
    public static func policies(_ policies: [RateLimitPolicy]) -> String {
        FieldText.text(capacity: policies.reduce(0) { $0 + capacity($1, partitionKey: nil) }) { text in
            for policy in policies { add(policy, partitionKey: nil, to: &text) }
        }
    }

    /// Returns the field value that describes one policy, such as `"bandwidth";q=65535;qu="content-bytes";w=10;pk=:cHJv:`. The value
    /// contains the unit only if it isn't requests.
    /// - Parameters:
    ///   - policy: The policy whose name, quota, unit and window the value contains.
    ///   - partitionKey: The key that distinguishes this quota from other quotas of the policy; `nil` to omit it. It must not contain a
    ///     secret, because clients receive it.
    public static func policy(_ policy: RateLimitPolicy, partitionKey: [UInt8]?) -> String {
        FieldText.text(capacity: capacity(policy, partitionKey: partitionKey)) {
            add(policy, partitionKey: partitionKey, to: &$0)
        }
    }

    /// Returns the field value that reports the remaining units of one policy, such as `"reset-email";r=2;t=1200`.
    /// - Parameters:
    ///   - policy: The policy. The value contains only the policy's name.
    ///   - remaining: The number of remaining units; a negative number counts as 0.
    ///   - reset: The time until more units are available.
    ///   - partitionKey: The key that distinguishes this quota from other quotas of the policy. It must not contain a secret.
    public static func limit(
        _ policy: RateLimitPolicy,
        remaining: Int,
        reset: Duration,
        partitionKey: [UInt8]? = nil
    ) -> String {
        let limit = RateLimitResult.Limit(policy: policy, remaining: remaining, reset: reset, partitionKey: partitionKey)
        return FieldText.text(capacity: capacity(policy, partitionKey: partitionKey)) { add(limit, to: &$0) }
    }

    /// Returns the field value that describes the visible policies of a result; `nil` if there are none.
    ///
    /// - Parameter result: The result of a call of `admit` or `check`, such as ``JointRateLimiter/admit(_:)``.
    public static func policies(of result: RateLimitResult) -> String? {
        // Most results have one limit, and its policy already has the text.
        if result.limits.count == 1, result.limits[0].isVisible, result.limits[0].partitionKey == nil {
            return result.limits[0].policy.field
        }
        return list(result) { add(result.limits[$0].policy, partitionKey: result.limits[$0].partitionKey, to: &$1) }
    }

    /// Returns the field value with the remaining units of the visible policies of a result; `nil` if there are none.
    ///
    /// - Parameter result: The result of a call of `admit` or `check`, such as ``JointRateLimiter/admit(_:)``.
    public static func limits(of result: RateLimitResult) -> String? {
        list(result) { add(result.limits[$0], to: &$1) }
    }

    /// Returns the value of `Retry-After`; `nil` if the request was admitted, or if it can never be admitted.
    ///
    /// If several limits refuse the request, the value is the longest of their delays.
    /// - Returns: The delay in whole seconds, rounded up; at least 1.
    public static func retryAfter(of result: RateLimitResult) -> String? {
        result.refusal?.retryAfter.map { String(max(1, $0.wholeSecondsRoundedUp)) }
    }

    /// Returns a field value with one list member for each visible limit of a result; `nil` if no limit is visible. The closure writes the
    /// member of the limit with an index. It takes an index, because a limit as an argument would be copied.
    @inline(__always)
    private static func list(_ result: RateLimitResult, _ add: (Int, inout FieldText) -> Void) -> String? {
        var total = 0
        for index in result.limits.indices where result.limits[index].isVisible {
            total += capacity(result.limits[index].policy, partitionKey: result.limits[index].partitionKey)
        }
        guard total > 0 else { return nil }
        return FieldText.text(capacity: total) { text in
            for index in result.limits.indices where result.limits[index].isVisible { add(index, &text) }
        }
    }

    /// Returns the maximum number of bytes of one list member, including its separator. The maximum applies to both `RateLimit-Policy` and
    /// `RateLimit`.
    @inline(__always)
    private static func capacity(_ policy: RateLimitPolicy, partitionKey: [UInt8]?) -> Int {
        let key = partitionKey.map { 4 * ($0.count / 3 + 1) } ?? 0
        // The 32 bytes are for separators and the names of parameters, which need only 14.
        return policy.field.utf8.count + key + 2 * FieldText.numberCapacity + 32
    }

    @inline(__always)
    private static func add(_ policy: RateLimitPolicy, partitionKey: [UInt8]?, to text: inout FieldText) {
        if !text.isEmpty { text.add(literal: ", ") }
        text.add(policy.field)
        end(partitionKey, &text)
    }

    @inline(__always)
    private static func add(_ limit: RateLimitResult.Limit, to text: inout FieldText) {
        if !text.isEmpty { text.add(literal: ", ") }
        text.add(limit.policy.field, length: limit.policy.quotedNameLength)
        text.add(literal: ";r=")
        text.add(number: max(0, limit.remaining))
        text.add(literal: ";t=")
        text.add(number: max(0, limit.reset.wholeSecondsRoundedUp))
        end(limit.partitionKey, &text)
    }

    /// Writes the end of a list member: the partition key, if there is one.
    private static func end(_ partitionKey: [UInt8]?, _ text: inout FieldText) {
        guard let partitionKey else { return }
        text.add(literal: ";pk=:")
        text.add(Base64.encode(partitionKey))
        text.add(literal: ":")
    }
}
