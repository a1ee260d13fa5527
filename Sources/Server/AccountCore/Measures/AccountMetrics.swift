public import CoreMetrics
import ErrorContract
import Observability

/// The metrics of accounts, for swift-metrics. In the list, "by" precedes the label of a counter. No label identifies a user, an address or
/// an account.
///
/// - `password_resets`, by `step`: `requested`, `handed_over`, `validated`, `confirmed`.
/// - `password_reset_failures`, by `step` (`validate`, `confirm`) and `reason`.
/// - `reset_mails_limited`: reset emails that the worker didn't send, because the account's limit for reset emails was exhausted.
/// - `logins`, by `outcome`.
/// - `mails_handed_over`, by `mail`: delivered emails.
/// - `mails_given_up`, by `mail`: emails that the server has abandoned.
/// - `mail_failures`, by `kind`: failed deliveries.
/// - The timer `mail_intent_age`: the time from the request of an email to its delivery.
///
/// Only operators may read these metrics: a client that can read them while it sends a request learns the request's outcome.
public struct AccountMetrics: Sendable {
    /// A step of a password reset. It is counted when it succeeds.
    enum Step: String, CaseIterable {
        case requested
        case delivered = "handed_over"
        case validated, confirmed
    }

    /// A step of a password reset whose failures are counted.
    enum FailedStep: String, CaseIterable { case validate, confirm }

    /// The reason of a failed step.
    enum ResetFailure: String, CaseIterable {
        case tokenInvalid = "token_invalid"
        case tokenExpired = "token_expired"
        case weakPassword = "weak_password"
        case busy, error
    }

    /// The outcome of a sign-in.
    enum Login: String, CaseIterable {
        case succeeded = "ok"
        case failed, refused, busy, error
    }

    /// The kind of a failed delivery.
    enum MailFailure: String, CaseIterable { case refused, deferred, unavailable, misconfigured, other }

    private let resets: [Step: Counter]
    private let resetFailures: [FailedStep: [ResetFailure: Counter]]
    private let resetMailsLimited: Counter
    private let logins: [Login: Counter]
    private let mailsDelivered: [String: Counter]
    private let mailsAbandoned: [String: Counter]
    private let mailFailures: [MailFailure: Counter]
    private let mailAge: Timer

    /// Creates all counters and the timer, so that each metric exists before its first event.
    /// - Parameter factory: Creates the counters and the timer.
    public init(factory: any MetricsFactory = MetricsSystem.factory) {
        func perMail(_ label: String) -> [String: Counter] {
            let pairs = MailIntent.Subject.kinds.map { ($0, Counter(label: label, dimensions: [("mail", $0)], factory: factory)) }
            return Dictionary(uniqueKeysWithValues: pairs)
        }
        resets = Counter.each("password_resets", by: "step", factory: factory)
        let failures = FailedStep.allCases.map { step -> (FailedStep, [ResetFailure: Counter]) in
            (step, Counter.each("password_reset_failures", by: "reason", [("step", step.rawValue)], factory: factory))
        }
        resetFailures = Dictionary(uniqueKeysWithValues: failures)
        resetMailsLimited = Counter(label: "reset_mails_limited", dimensions: [], factory: factory)
        logins = Counter.each("logins", by: "outcome", factory: factory)
        mailsDelivered = perMail("mails_handed_over")
        mailsAbandoned = perMail("mails_given_up")
        mailFailures = Counter.each("mail_failures", by: "kind", factory: factory)
        mailAge = Timer(label: "mail_intent_age", dimensions: [], preferredDisplayUnit: .seconds, factory: factory)
    }

    /// Counts a step that has succeeded.
    func count(_ step: Step) { resets[step]?.increment() }
    func count(_ failure: ResetFailure, at step: FailedStep) { resetFailures[step]?[failure]?.increment() }
    func count(_ login: Login) { logins[login]?.increment() }

    /// Counts a reset email that the worker didn't send, because the account's limit for reset emails was exhausted.
    func limitedResetMail() { resetMailsLimited.increment() }

    /// Counts a delivered email, and records its age.
    /// - Parameter seconds: The time from the request of the email to its delivery.
    func delivered(_ intent: MailIntent, after seconds: Double) {
        mailsDelivered[intent.subject.kind]?.increment()
        mailAge.recordNanoseconds(Int64(max(0, min(seconds, 1e9)) * 1e9))
    }

    /// Counts an abandoned email.
    func gaveUp(_ intent: MailIntent) { mailsAbandoned[intent.subject.kind]?.increment() }

    /// Counts a failed delivery.
    func mailFailed(_ error: any Error) {
        let kind = (error as? MailDeliveryError).flatMap { MailFailure(rawValue: $0.kind.rawValue) }
        mailFailures[kind ?? .other]?.increment()
    }
}

extension AccountMetrics {
    /// Runs a step of a password reset. If the step fails, the method counts the reason of the failure.
    /// - Parameter isExpired: Returns whether the token has expired. The method calls this closure only if the step fails because the token
    ///   is invalid.
    func watching<Result>(
        _ step: FailedStep,
        isExpired: () async -> Bool,
        _ body: () async throws -> Result
    ) async throws -> Result {
        do {
            return try await body()
        } catch let error as AccountError {
            switch error.code {
            case .authResetTokenInvalid: count(await isExpired() ? .tokenExpired : .tokenInvalid, at: step)
            case .authWeakPassword: count(.weakPassword, at: step)
            default: count(.busy, at: step)
            }
            throw error
        } catch {
            count(.error, at: step)
            throw error
        }
    }

    /// Runs a sign-in and counts its outcome.
    func watchingLogin<Result>(_ body: () async throws -> Result) async throws -> Result {
        do {
            let result = try await body()
            count(.succeeded)
            return result
        } catch let error as AccountError {
            switch error.code {
            case .authInvalidCredentials: count(Login.failed)
            case .serverServiceUnavailable: count(Login.busy)
            default: count(Login.refused)
            }
            throw error
        } catch {
            count(Login.error)
            throw error
        }
    }

    /// Counts a sign-in that the server refused before the lookup of the account, because the server was busy.
    func refusedLoginEarly() { count(Login.busy) }
}
