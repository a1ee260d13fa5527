import AccountContract
import AccountCore
import Crypto
import ErrorContract
import Foundation
import TokenVerifier

/// Measures `TokenVerifier` against the bare ECDSA signature check of the same tokens. Rounds of both alternate, so that other load affects
/// both. Arguments: rounds and verifications per round.
@main
struct BenchTokens {
    private struct Failure: Error {}

    /// A token as the bare check gets it.
    private struct Signed {
        let bytes: Data
        let signature: P256.Signing.ECDSASignature
    }

    static func main() async throws {
        let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let rounds = arguments.first ?? 15
        let count = arguments.dropFirst().first ?? 2_000
        let keys = SigningKeys(
            store: InMemoryAccountStores().signingKeys,
            secrets: SigningKeySecrets(ServerKeys(secret: SymmetricKey(size: .bits256))),
            now: { Date() }
        )
        let tokens = try await tokens(count, signedBy: keys)
        let document = try await keys.published().document
        let verifier = TokenVerifier(issuer: "https://accounts.example.com", audience: "Notes") { document }
        _ = try await verifier.verify(tokens[0])
        let key = try publicKey(of: document)
        let signed = try tokens.map { try split($0) }
        var (bare, whole): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            bare.append(
                try await microseconds(count) {
                    for token in signed {
                        guard key.isValidSignature(token.signature, for: token.bytes) else { throw Failure() }
                    }
                }
            )
            whole.append(try await microseconds(count) { for token in tokens { _ = try await verifier.verify(token) } })
        }
        let ratios = zip(whole, bare).map { $0 / $1 }
        print("| | median |\n|---|---:|")
        print("| bare signature check | \(text(median(bare))) µs |")
        print("| TokenVerifier | \(text(median(whole))) µs |")
        let range = "from \(text(ratios.min() ?? 0)) to \(text(ratios.max() ?? 0))"
        print("| ratio of the rounds (at most 1.25) | \(text(median(ratios))), \(range) |")
    }

    private static func tokens(_ count: Int, signedBy keys: SigningKeys) async throws -> [String] {
        let issuer = AccessTokens(keys: keys, audience: "Notes") { "https://accounts.example.com" }
        let account = Account(
            id: .init(rawValue: UUID()),
            email: try EmailAddress("ana@example.com"),
            firstName: try FirstName("Ana"),
            passwordHash: "",
            language: .english,
            createdAt: Date()
        )
        var tokens: [String] = []
        for _ in 0..<count {
            let session = StoredSession.ID(rawValue: UUID())
            tokens.append(try await issuer.issue(for: account, session: session, at: Date(), lifetime: .seconds(3_600)))
        }
        return tokens
    }

    private static func split(_ token: String) throws -> Signed {
        guard let dot = token.lastIndex(of: "."), let signature = decoded(token[token.index(after: dot)...]) else {
            throw Failure()
        }
        return Signed(bytes: Data(token[..<dot].utf8), signature: try .init(rawRepresentation: signature))
    }

    private struct KeySet: Decodable {
        struct Key: Decodable { let x, y: String }
        let keys: [Key]
    }

    private static func publicKey(of document: [UInt8]) throws -> P256.Signing.PublicKey {
        guard let key = try JSONDecoder().decode(KeySet.self, from: Data(document)).keys.first, let x = decoded(key.x),
            let y = decoded(key.y)
        else { throw Failure() }
        return try P256.Signing.PublicKey(rawRepresentation: x + y)
    }

    /// Decodes base64url.
    private static func decoded(_ text: some StringProtocol) -> Data? {
        let padding = String(repeating: "=", count: (4 - text.count % 4) % 4)
        return Data(
            base64Encoded: text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/") + padding
        )
    }

    private static func microseconds(_ count: Int, _ body: @Sendable () async throws -> Void) async throws -> Double {
        let start = ContinuousClock.now
        try await body()
        return (ContinuousClock.now - start) / .microseconds(1) / Double(count)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func text(_ value: Double) -> String { String(format: "%.2f", value) }
}
