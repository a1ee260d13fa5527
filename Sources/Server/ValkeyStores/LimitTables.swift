import RateLimiting
import Synchronization

/// The rate limit rules, each with one or three tables (``Table``). A table contains a rule and the prefix of the rule's keys in Valkey.
///
/// An operator can replace a rule while the store decides about requests. Each decision takes one copy of all tables under a mutex, so a
/// decision never mixes two versions of a rule.
///
/// The name of a key is `{NAMESPACE}POLICY:DIGEST`. The digest has 16 hexadecimal digits. A cluster stores all keys with the same text in
/// braces in one slot, so one script can use all these keys.
final class LimitTables: Sendable {
    /// A rule and the prefix of its keys. A rule that always limits clients and their networks has three tables: one for clients, one for
    /// their near networks (such as a /24), and one for their far networks, which are larger.
    struct Table: Sendable {
        /// The current rule.
        var rule: RateLimitRule
        /// The numbers of the rule's policy that the scripts use.
        var terms: LimitTerms
        /// The prefix of the names of the table's keys.
        let keyPrefix: [UInt8]
        /// The time at which this process replaced the policy, in microseconds of the server's clock; `nil` if this process has not
        /// replaced the policy, or if it didn't know the server's time.
        var changed: Int64?
    }

    /// The position of a rule's tables in the array of tables.
    private struct Place: Sendable {
        var first: Int
        /// Whether the tables of near and far networks follow.
        var hasNetworks: Bool
    }

    /// A key that a request claims in one table, with all values that the script needs.
    struct Claim: Sendable {
        var table: Int
        /// The digest of the key under the secret.
        var digest: UInt64
        var cost: Int
        var rule: RateLimitRule
        var terms: LimitTerms
        var changed: Int64?
        /// The name of the key.
        var key: [UInt8]
        /// The name of the policy that the request claims.
        var policy: String
        /// Whether this is the claim of the client itself, and not of a network of the client. Responses report only claims of clients.
        var isNarrow: Bool
        var isRefundable: Bool
    }

    private let places: [String: Place]
    private let tables: Mutex<[Table]>
    private let secret: KeySecret

    /// Creates the tables. A rule whose network limits always apply gets three tables: one for clients, one for near networks, and one for
    /// far networks.
    /// - Parameters:
    ///   - rules: The rules.
    ///   - namespace: The prefix of the names of all keys. Each name contains the prefix in braces.
    ///   - secret: The secret for the digests.
    /// - Precondition: There is at least one rule, and the names are unique.
    init(_ rules: [RateLimitRule], namespace: String, secret: KeySecret) {
        var places: [String: Place] = [:]
        var tables: [Table] = []
        for rule in rules {
            // Some rules count networks only while the table of clients is full. Valkey's tables have no size limit, so these rules need no
            // tables for networks.
            let hasNetworks = rule.wide?.use == .jointly
            places[rule.policy.name] = Place(first: tables.count, hasNetworks: hasNetworks)
            for rule in [rule] + (hasNetworks ? rule.networkRules : []) {
                let keyPrefix = Array("{\(namespace)}\(rule.policy.name):".utf8)
                tables.append(Table(rule: rule, terms: LimitTerms(rule.policy), keyPrefix: keyPrefix))
            }
        }
        precondition(!rules.isEmpty, "limits need a rule")
        precondition(places.count == rules.count, "limits need distinct names (are \(rules.map(\.policy.name)))")
        self.places = places
        self.tables = Mutex(tables)
        self.secret = secret
    }

    /// The current tables.
    var current: [Table] { tables.withLock { $0 } }

    /// Finds the tables and the names of the keys for the claims of a request. The method skips rules whose mode is `off`.
    /// - Parameter claims: The claims of a request.
    /// - Returns: For each claim, the claim of the client, followed by the claims of its networks if the rule counts networks.
    /// - Precondition: Each claim names a different rule, and all rules exist.
    /// - Complexity: O(number of claims squared), because a linear search finds duplicates. Requests have few claims.
    func resolve(_ claims: [RateLimitClaim]) -> [Claim] {
        let tables = current
        var resolved: [Claim] = []
        for claim in claims {
            guard let place = places[claim.policy] else {
                preconditionFailure("no rule is named \(claim.policy) (are \(places.keys.sorted()))")
            }
            precondition(!resolved.contains { $0.table == place.first }, "two claims name \(claim.policy)")
            func add(_ number: Int, _ digest: KeyDigest) {
                let table = tables[number]
                guard table.rule.mode != .off else { return }
                resolved.append(
                    Claim(
                        table: number,
                        digest: digest.rawValue,
                        cost: claim.cost ?? table.rule.policy.cost,
                        rule: table.rule,
                        terms: table.terms,
                        changed: table.changed,
                        key: table.keyPrefix + Self.hexadecimal(digest.rawValue),
                        policy: claim.policy,
                        isNarrow: number == place.first,
                        isRefundable: claim.isRefundable
                    )
                )
            }
            add(place.first, secret.digest(of: claim.key))
            guard place.hasNetworks, let networks = claim.networks else { continue }
            add(place.first + 1, secret.digest(of: networks.near))
            if let far = networks.far { add(place.first + 2, secret.digest(of: far)) }
        }
        return resolved
    }

    /// Replaces the rule with the same name. The method doesn't change keys in Valkey, because the scripts convert their values later.
    /// - Parameters:
    ///   - rule: The new rule.
    ///   - time: The server's time in microseconds; `nil` if it is unknown.
    /// - Returns: The tables whose existing keys expire too early for the new rule.
    /// - Precondition: There is a rule with that name.
    func change(to rule: RateLimitRule, at time: Int64?) -> [Table] {
        guard let place = places[rule.policy.name] else {
            preconditionFailure("no rule is named \(rule.policy.name) (are \(places.keys.sorted()))")
        }
        return tables.withLock { tables in
            var longer: [Table] = []
            for (offset, rule) in ([rule] + (place.hasNetworks ? rule.networkRules : [])).enumerated() {
                let number = place.first + offset
                let (before, terms) = (tables[number].terms, LimitTerms(rule.policy))
                tables[number].rule = rule
                guard before != terms else { continue }
                tables[number].terms = terms
                tables[number].changed = time
                if terms.longestUsage > before.longestUsage { longer.append(tables[number]) }
            }
            return longer
        }
    }

    /// Returns a number as 16 hexadecimal digits in ASCII.
    private static func hexadecimal(_ word: UInt64) -> [UInt8] {
        let digits: StaticString = "0123456789abcdef"
        return (0..<16).map { place in digits.utf8Start[Int(word >> UInt64(60 - 4 * place) & 15)] }
    }
}
