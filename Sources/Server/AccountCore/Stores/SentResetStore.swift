public import Foundation
public import RateLimiting

/// A store of the recently sent emails that clients requested without signing in. It limits the number of these emails independently of the
/// rate limiter.
public protocol SentResetStore: Sendable {
    /// Decides whether an email may be sent. If so, the store records the email. Retries of the same email count once.
    ///
    /// - Returns: Whether the email may be sent, and whether it was already recorded. If the email may not be sent, nothing is recorded.
    /// - Parameters:
    ///   - intent: The id of the email. A call with the same id replaces the earlier record.
    ///   - account: The account of a reset email; `nil` for any other email. Only ``ResetMailBounds/overall`` applies to emails with `nil`.
    ///   - bounds: The current limits.
    ///   - now: The present time, by a steady clock, which doesn't jump when the wall clock is set.
    func reserve(_ intent: MailIntent.ID, for account: Account.ID?, within bounds: ResetMailBounds, at now: Date) async throws
        -> ResetMailDecision
    /// Removes the record of an email that was not delivered.
    ///
    /// The email then no longer counts for the limits. If a later call of ``reserve(_:for:within:at:)`` has replaced the record, or if the
    /// record doesn't exist, nothing happens. So the caller can repeat a failed call at any later time.
    /// - Parameters:
    ///   - intent: The id of the email.
    ///   - time: The time that the caller passed to ``reserve(_:for:within:at:)``. The store compares it exactly.
    func cancel(_ intent: MailIntent.ID, reservedAt time: Date) async throws
    /// Removes records that no longer count for any limit. The work per call is bounded.
    /// - Returns: Whether there may be more records to remove.
    @discardableResult
    func sweep(at now: Date) async throws -> Bool
}

/// The limits for emails that clients can request without signing in.
public struct ResetMailBounds: Hashable, Sendable {
    /// The largest number of reset emails for one account; `nil` for no limit.
    public var perAccount: RateLimitPolicy?
    /// The largest number of all emails that clients can request without signing in; `nil` for no limit. If the burst of the policy is a
    /// part of its quota, at most the burst is sent within the same part of the window.
    public var overall: RateLimitPolicy?

    /// Creates limits; `nil` is no limit.
    public init(perAccount: RateLimitPolicy? = nil, overall: RateLimitPolicy? = nil) {
        (self.perAccount, self.overall) = (perAccount, overall)
    }
}

/// The decision about sending an email.
public enum ResetMailDecision: Hashable, Sendable {
    /// The email may be sent, and is recorded.
    case reserved
    /// The email may be sent again. An earlier attempt has recorded the email, and may have delivered it.
    case reservedAgain
    /// The account has received as many emails as its limit allows.
    case accountExceeded
    /// The limit for all accounts is exhausted until this time.
    case later(Date)
}
