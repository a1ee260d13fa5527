public import Foundation
public import RateLimiting

/// The reset emails that were sent lately, so that their number is bounded whatever the limiter has admitted.
public protocol SentResetStore: Sendable {
    /// Decides whether a reset email may be sent, and records it. A later try of the same email counts once.
    /// - Parameters:
    ///   - intent: The intent of the email.
    ///   - account: The account that the email is for.
    ///   - bounds: The bounds that apply now.
    ///   - now: The steady time.
    func reserve(_ intent: MailIntent.ID, for account: Account.ID, within bounds: ResetMailBounds, at now: Date) async throws
        -> ResetMailDecision
    /// Removes the record of an email that did not arrive.
    func cancel(_ intent: MailIntent.ID) async throws
    /// Removes records that no bound needs any more. Bounded work per call.
    /// - Returns: Whether there may be more.
    @discardableResult
    func sweep(at now: Date) async throws -> Bool
}

/// The largest numbers of reset emails.
public struct ResetMailBounds: Hashable, Sendable {
    /// For one account.
    public var perAccount: RateLimitPolicy?
    /// In all. A quota that the limiter paces is paced here too: at most its burst at once.
    public var overall: RateLimitPolicy?

    /// Creates bounds; `nil` is no bound.
    public init(perAccount: RateLimitPolicy? = nil, overall: RateLimitPolicy? = nil) {
        (self.perAccount, self.overall) = (perAccount, overall)
    }
}

/// Whether a reset email may be sent.
public enum ResetMailDecision: Hashable, Sendable {
    /// It may, and is recorded.
    case reserved
    /// The account has got as many as it may.
    case accountExceeded
    /// As many emails were sent in all as may be; the next one may be sent then.
    case later(Date)
}
