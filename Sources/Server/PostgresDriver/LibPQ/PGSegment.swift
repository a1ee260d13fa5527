/// Statements that are sent together and whose results return together, in one round trip.
struct PGSegment: Sendable {
    enum Kind: Sendable, Equatable {
        /// One statement without `BEGIN`, which the server executes as a transaction.
        case single(isReadOnly: Bool)
        case inTransaction, commit, rollback
    }

    var statements: [(statement: PostgresStatement, values: [PostgresValue])]
    let kind: Kind
    /// Whether the segment's commit also waits until earlier commits are on the standby. An attempt whose outcome is unknown may only be
    /// committed on the primary. A repetition that finds its row writes nothing, so it would not wait for the standby.
    var confirmsEarlierCommits = false

    init(_ statements: [(PostgresStatement, [PostgresValue])], _ kind: Kind) {
        self.statements = statements.map { (statement: $0.0, values: $0.1) }
        self.kind = kind
    }

    static func single(_ statement: PostgresStatement, _ values: [PostgresValue]) -> PGSegment {
        PGSegment([(statement, values)], .single(isReadOnly: statement.isReadOnly))
    }

    static let commit = PGSegment([("COMMIT", [])], .commit)
    static let rollback = PGSegment([("ROLLBACK", [])], .rollback)

    /// Whether changes become durable with the segment. Such a segment is never canceled: a canceled commit may succeed on the primary and
    /// be lost in a failover.
    var commits: Bool {
        switch kind {
        case .single(let isReadOnly): !isReadOnly
        case .commit: true
        case .inTransaction, .rollback: false
        }
    }
}

extension PostgresStatement {
    /// Whether the statement changes nothing. `WITH` counts as a change, because it may contain one.
    var isReadOnly: Bool {
        let word = text.drop { $0.isWhitespace || $0 == "(" }.prefix { $0.isLetter }.uppercased()
        return ["SELECT", "SHOW", "VALUES", "TABLE"].contains(word)
    }
}
