/// Statements that are sent together and whose results return together: one round trip.
struct PGSegment: Sendable {
    enum Kind: Sendable, Equatable {
        /// One statement without `BEGIN`: the server makes it a transaction.
        case single(isReadOnly: Bool)
        case inTransaction, commit, rollback
    }

    var statements: [(statement: PostgresStatement, values: [PostgresValue])]
    let kind: Kind
    /// Whether the segment's commit also waits until earlier commits are on the standby. An attempt whose outcome is unknown may have
    /// committed here only, and a repetition that finds its row writes nothing, so it would not wait for the standby at all.
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

    /// Whether changes become durable with the segment. It is never canceled: a canceled commit may succeed here and be lost in a failover.
    var commits: Bool {
        switch kind {
        case .single(let isReadOnly): !isReadOnly
        case .commit: true
        case .inTransaction, .rollback: false
        }
    }
}

extension PostgresStatement {
    /// Whether the statement changes nothing. `WITH` counts as a change, since it may have one inside.
    var isReadOnly: Bool {
        let word = text.drop { $0.isWhitespace || $0 == "(" }.prefix { $0.isLetter }.uppercased()
        return ["SELECT", "SHOW", "VALUES", "TABLE"].contains(word)
    }
}
