public import Foundation
import RateLimiting
import StrictJSON
import Synchronization
public import Timekeeping

/// A verifier for access tokens of a Holdfast server, for use in another service. The verifier uses the server's public keys, so the two
/// services share no secret.
///
/// Create one verifier for the process and use it for every request:
///
/// ```swift
/// let verifier = TokenVerifier(issuer: "https://accounts.example.com", audience: "Notes") {
///     try await keySet(at: "https://accounts.example.com/.well-known/jwks.json")
/// }
/// let token = try await verifier.verify(bearerToken)
/// print(token.accountID)
/// ```
/// The verifier accepts only tokens of type `at+jwt` with a signature by ES256. The header of a token can't choose another algorithm or the
/// address of a key: the verifier ignores `jku`, `x5u` and keys in the header.
///
/// A verifier does not know which sessions have ended. It accepts a token until the token expires, by default 15 minutes after the server
/// issued the token. If this time is too long, call `GET /api/auth/me` of the server instead of using a verifier.
///
/// **Keys.** The verifier fetches the keys before it verifies the first token, and again when they are older than ``Rules/refreshAge``. If
/// a token names an unknown key, the verifier also fetches the keys, but at most once per ``Rules/unknownKeyPause``. Concurrent callers
/// share one fetch. If a fetch fails, the verifier uses the earlier keys until they are older than ``Rules/maximumAge``. Then the verifier
/// refuses every token with ``TokenRefusal/keysUnavailable``.
///
/// **Cost.** A verification costs little more than its ECDSA signature check. A verifier needs memory only for the keys.
public final class TokenVerifier: Sendable {
    /// The accepted clock difference, and the ages at which the verifier fetches keys. Change these values for tests, or for an issuer that
    /// rotates keys often.
    public struct Rules: Hashable, Sendable {
        /// The largest accepted difference between the clocks of issuer and verifier; 30 s by default.
        public var clockSkew: Duration = .seconds(30)
        /// The age at which the verifier fetches the keys again; 5 minutes by default. One caller waits for the fetch, and the other
        /// callers use the earlier keys meanwhile. If fetches succeed, the verifier accepts a key for at most this time after the issuer
        /// has retired the key.
        public var refreshAge: Duration = .seconds(300)
        /// The age after which the verifier no longer uses fetched keys; 1 hour by default. If the verifier can't reach the issuer for this
        /// time, it refuses all tokens. So after the issuer has retired a leaked key, the verifier accepts this key for at most this time.
        public var maximumAge: Duration = .seconds(3_600)
        /// The shortest time between the start of a successful fetch and the start of the next one; 30 s by default. This pause limits the
        /// fetches that an attacker can cause with forged key ids. After the issuer begins to use a new key, the verifier refuses the
        /// tokens of this key for at most this time.
        public var unknownKeyPause: Duration = .seconds(30)
        /// The shortest time between the start of a failed fetch and the start of the next one; 2 s by default.
        public var retryPause: Duration = .seconds(2)

        /// Creates the default rules.
        public init() {}
    }

    /// A function that returns the issuer's key set as JSON. An error, or a document without usable keys, counts as a failed fetch.
    public typealias Fetch = @Sendable () async throws -> [UInt8]

    /// A key set, and the time at which its fetch completed.
    private struct Held {
        let keys: TokenKeys
        let fetchedAt: Duration
    }

    private struct State {
        var held: Held?
        var isFetching = false
        /// The start of the last fetch.
        var attemptedAt: Duration?
        var hasFailed = false

        /// Returns whether a caller must wait for a fetch of the keys. If no fetch is running and the pause since the last attempt is over,
        /// the method marks a new fetch as started.
        ///
        /// The pause since the last attempt also applies if the key of the token is unknown. Otherwise, an attacker could overload the
        /// issuer with forged key ids.
        mutating func needsFetch(for id: String, at time: Duration, rules: Rules) -> Bool {
            let age = held.map { time - $0.fetchedAt }
            let isKnown = held?.keys.contains(id) ?? false
            if isKnown, let age, age < rules.refreshAge || isFetching && age <= rules.maximumAge { return false }
            if isFetching { return true }
            let pause = hasFailed ? rules.retryPause : rules.unknownKeyPause
            if let attemptedAt, time - attemptedAt < pause { return false }
            isFetching = true
            attemptedAt = time
            return true
        }

        /// Records the end of a fetch. After a failed fetch, `keys` is `nil`, and the verifier continues to use the earlier keys.
        mutating func end(with keys: TokenKeys?, at time: Duration) {
            isFetching = false
            hasFailed = keys == nil
            if let keys { held = Held(keys: keys, fetchedAt: time) }
        }
    }

    private let issuer: String
    private let audience: String
    private let rules: Rules
    private let clock: MonotonicClock
    private let now: @Sendable () -> Date
    private let fetch: Fetch
    private let state = Mutex(State())
    private let fetching = SingleFlight<TokenKeys?>()

    /// Creates a verifier, which fetches the keys before it verifies the first token.
    /// - Parameters:
    ///   - issuer: The `iss` of accepted tokens: the server's `TOKEN_ISSUER`, by default its public base URL.
    ///   - audience: The `aud` of accepted tokens: the server's `TOKEN_AUDIENCE`, by default its `APP_NAME`.
    ///   - rules: The accepted clock difference, and the ages at which the verifier fetches keys.
    ///   - clock: The clock that measures the age of keys.
    ///   - now: Returns the wall-clock time. The verifier compares it with the times in tokens.
    ///   - fetch: Fetches the document at the server's `/.well-known/jwks.json` with any HTTP client. Set a timeout, because callers wait
    ///     for the fetch.
    public init(
        issuer: String,
        audience: String,
        rules: Rules = Rules(),
        clock: MonotonicClock = .continuous,
        now: @escaping @Sendable () -> Date = { Date() },
        fetch: @escaping Fetch
    ) {
        self.issuer = issuer
        self.audience = audience
        self.rules = rules
        self.clock = clock
        self.now = now
        self.fetch = fetch
    }

    /// Verifies an access token: form, algorithm, type, signature, issuer, audience and times, in this order.
    ///
    /// The method waits for a fetch only if the keys are missing, old, or don't include the token's key. If a caller is canceled, the fetch
    /// continues, because other callers may wait for it.
    /// - Parameter text: The token, without the scheme `Bearer`; at most 4,096 bytes.
    /// - Returns: The claims of the token.
    /// - Throws: ``TokenRefusal`` with the first check that failed. Respond with 503 for ``TokenRefusal/keysUnavailable``, and with 401
    ///   otherwise.
    public func verify(_ text: String) async throws(TokenRefusal) -> VerifiedToken {
        guard let token = SignedToken(text) else { throw .malformed }
        guard token.algorithm == "ES256" else { throw .algorithm }
        guard token.type?.lowercased() == "at+jwt", let id = token.keyID else { throw .malformed }
        let keys = try await keys(with: id)
        guard keys.verify(token, with: id) else { throw .signature }
        guard let claims = token.claims(), let verified = VerifiedToken(claims) else { throw .malformed }
        guard claims.string("iss") == issuer else { throw .issuer }
        guard claims.names(audience: audience) else { throw .audience }
        let skew = rules.clockSkew / .seconds(1)
        let time = now().timeIntervalSince1970
        guard verified.expiresAt.timeIntervalSince1970 + skew > time else { throw .expired }
        guard verified.issuedAt.timeIntervalSince1970 - skew <= time else { throw .notYetValid }
        guard let start = claims["nbf"] else { return verified }
        guard case .integer(let seconds) = start else { throw .malformed }
        guard Double(seconds) - skew <= time else { throw .notYetValid }
        return verified
    }

    /// Returns a key set that includes a key id and is not too old. If the present key set is old or doesn't include the id, the method
    /// first fetches the keys.
    /// - Throws: ``TokenRefusal/keysUnavailable`` or ``TokenRefusal/unknownKey``.
    private func keys(with id: String) async throws(TokenRefusal) -> TokenKeys {
        // The end is recorded under the lock of `fetching`. Otherwise, a caller could mark a new fetch as started, and then join the fetch
        // that is ending. No fetch would run, but all callers would assume that one does.
        _ = try? await fetching.run(
            unless: { needsFetch(for: id) ? .join : .ready(nil) },
            landing: { [self] outcome in
                let fetched = try? outcome.get()
                state.withLock { $0.end(with: fetched, at: clock.now) }
            }
        ) { [self] in
            try? await TokenKeys(document: try await fetch())
        }
        guard let held = state.withLock({ $0.held }), clock.now - held.fetchedAt <= rules.maximumAge else {
            throw .keysUnavailable
        }
        guard held.keys.contains(id) else { throw .unknownKey }
        return held.keys
    }

    private func needsFetch(for id: String) -> Bool {
        state.withLock { $0.needsFetch(for: id, at: clock.now, rules: rules) }
    }
}

extension JSONObject {
    /// Returns whether the claim `aud` names an audience. The claim is a string or an array of strings.
    fileprivate func names(audience: String) -> Bool {
        switch self["aud"] {
        case .string(let one)?: one == audience
        case .array(let several)?: several.contains(.string(audience))
        default: false
        }
    }
}
