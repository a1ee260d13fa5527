import Crypto
import Foundation
import Synchronization

/// A cache of the access tokens whose signature this process has verified or created. With the cache, the process verifies the signature of
/// a token only once. The key of the cache is the SHA-256 of the token's text.
///
/// The cache has two halves. When the newer half is full, it becomes the older half, and the cache discards the previous older half. So the
/// number of tokens is bounded. Expired tokens and tokens of retired keys stay until their half is replaced. So a caller that finds a token
/// must still check its expiry and its key.
///
/// - Complexity: O(1).
final class VerifiedTokens: Sendable {
    /// A token whose signature is valid.
    struct Entry: Sendable {
        let claims: AccessTokens.Claims
        let keyID: String
        /// The expiry in seconds since 1970.
        let expiry: Int
    }

    /// The two halves of the cache. Because a whole half is discarded at once, the cache needn't record when each token was last used.
    private struct State {
        var newer: [TokenDigest: Entry] = [:]
        var older: [TokenDigest: Entry] = [:]
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Creates an empty cache.
    /// - Parameter limit: The largest number of tokens.
    init(limit: Int = 32_768) {
        self.limit = limit
    }

    /// The number of tokens.
    var count: Int { state.withLock { $0.newer.count + $0.older.count } }

    subscript(digest: TokenDigest) -> Entry? { state.withLock { $0.newer[digest] ?? $0.older[digest] } }

    /// Adds a token whose signature is valid. If the newer half is full, the method first discards the older half.
    func insert(_ entry: Entry, for digest: TokenDigest) {
        state.withLock { state in
            if state.newer.count >= limit / 2 {
                state.older = state.newer
                state.newer = [:]
            }
            state.newer[digest] = entry
        }
    }
}
