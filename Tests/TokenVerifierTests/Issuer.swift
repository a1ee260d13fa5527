import AccountContract
import Foundation
import HoldfastTesting
import JWTKit
import Synchronization
import Timekeeping
import TokenVerifier

/// An issuer of access tokens with its key sets, which counts their fetches.
final class Issuer: Sendable {
    struct Unreachable: Error {}

    private struct State {
        var keys: [String: ES256PrivateKey] = [:]
        var fetches = 0
        var isDown = false
    }

    static let time = Date(timeIntervalSince1970: 1_800_000_000)
    static let name = "https://accounts.example.com"

    private let state: Mutex<State>
    let clock = ManualClock()

    init(_ ids: String...) {
        state = Mutex(State(keys: Dictionary(uniqueKeysWithValues: ids.map { ($0, ES256PrivateKey()) })))
    }

    var fetches: Int { state.withLock { $0.fetches } }

    func addKey(_ id: String) { state.withLock { $0.keys[id] = ES256PrivateKey() } }
    func removeKey(_ id: String) { state.withLock { _ = $0.keys.removeValue(forKey: id) } }
    func stop() { state.withLock { $0.isDown = true } }
    func start() { state.withLock { $0.isDown = false } }

    func key(_ id: String) -> ES256PrivateKey { state.withLock { $0.keys[id] } ?? ES256PrivateKey() }

    func verifier(rules: TokenVerifier.Rules = .init(), now: @escaping @Sendable () -> Date = { time }) -> TokenVerifier {
        TokenVerifier(issuer: Self.name, audience: "Notes", rules: rules, clock: MonotonicClock(clock), now: now) { [self] in
            try fetch()
        }
    }

    private func fetch() throws -> [UInt8] {
        try state.withLock { state in
            state.fetches += 1
            if state.isDown { throw Unreachable() }
            return Array(Self.document(state.keys).utf8)
        }
    }

    static func document(_ keys: [String: ES256PrivateKey]) -> String {
        let members = keys.compactMap { id, key in key.parameters.map { member(id, x: $0.x, y: $0.y) } }
        return #"{"keys":[\#(members.joined(separator: ","))]}"#
    }

    static func member(_ id: String, x: String, y: String, more: String = "") -> String {
        // The parameters are base64, and a key set contains base64url.
        let (x, y) = (url(x), url(y))
        return #"{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"\#(id)","x":"\#(x)","y":"\#(y)"\#(more)}"#
    }

    static func url(_ base64: String) -> String {
        base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }

    /// Signs a token. The header and the claims can be replaced by JSON.
    func token(
        key id: String = "a",
        header: String? = nil,
        claims: String = Issuer.claims(),
        sign: ((_ bytes: [UInt8]) throws -> [UInt8])? = nil
    ) async throws -> String {
        let header = header ?? #"{"alg":"ES256","typ":"at+jwt","kid":"\#(id)"}"#
        let signed = Base64URL.encoded(header.utf8) + "." + Base64URL.encoded(claims.utf8)
        let signature: [UInt8]
        if let sign {
            signature = try sign(Array(signed.utf8))
        } else {
            signature = try await JWTKeyCollection().add(ecdsa: key(id)).getKey().sign(Array(signed.utf8))
        }
        return signed + "." + Base64URL.encoded(signature)
    }

    static let account = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
    static let session = "0b2f4b3a-6f0e-4b53-9a51-5ab2b7a4e0aa"

    static func claims(
        issuer: String = name,
        audience: String = #""Notes""#,
        issued: Int = 0,
        lifetime: Int = 900,
        more: String = ""
    ) -> String {
        let issued = Int(time.timeIntervalSince1970) + issued
        return """
            {"iss":"\(issuer)","aud":\(audience),"sub":"\(account)","sid":"\(session)","iat":\(issued),"exp":\(issued + lifetime)\(more)}
            """
    }
}
