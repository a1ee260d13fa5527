/// Statements that are sent together and whose results return together, in one round trip.
struct PGSegment: Sendable {
    /// The part of a transaction that the segment is.
    enum Kind: Sendable, Equatable {
        /// One statement without `BEGIN`, which the server executes as a transaction.
        case single(isReadOnly: Bool)
        /// Statements between `BEGIN` and the end, and the two ends.
        case inTransaction, commit, rollback
    }

    /// The statements with their values, in the order of their execution.
    var statements: [(statement: PostgresStatement, values: [PostgresValue])]
    let kind: Kind
    /// Whether the segment's commit also waits until earlier commits are on the standby. An attempt whose outcome is unknown may only be
    /// committed on the primary. A repetition that finds its row writes nothing, so it would not wait for the standby.
    var confirmsEarlierCommits = false

    /// Creates a segment.
    init(_ statements: [(PostgresStatement, [PostgresValue])], _ kind: Kind) {
        self.statements = statements.map { (statement: $0.0, values: $0.1) }
        self.kind = kind
    }

    /// Creates a segment that is a whole transaction.
    static func single(_ statement: PostgresStatement, _ values: [PostgresValue]) -> PGSegment {
        PGSegment([(statement, values)], .single(isReadOnly: statement.isReadOnly))
    }

    /// Commits the transaction of the connection.
    static let commit = PGSegment([("COMMIT", [])], .commit)
    /// Rolls back the transaction of the connection.
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
    /// Whether the statement changes nothing, by its first word. `WITH` counts as a change, because it may contain one. A `SELECT` that
    /// calls a function with changes must not be used with this driver.
    var isReadOnly: Bool {
        let word = text.drop { $0.isWhitespace || $0 == "(" }.prefix { $0.isLetter }.uppercased()
        return ["SELECT", "SHOW", "VALUES", "TABLE"].contains(word)
    }
}
