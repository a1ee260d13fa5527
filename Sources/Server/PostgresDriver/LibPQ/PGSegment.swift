/// Statements that are sent together in one round trip. Their results also return together.
struct PGSegment: Sendable {
    /// The part of a transaction that the segment is.
    enum Kind: Sendable, Equatable {
        /// One statement without `BEGIN`, which the server executes as a transaction.
        case single(isReadOnly: Bool)
        /// Statements between `BEGIN` and the end of a transaction, or one of the two ends.
        case inTransaction, commit, rollback
    }

    /// The statements with their values, in the order of their execution.
    var statements: [(statement: PostgresStatement, values: [PostgresValue])]
    let kind: Kind
    /// Whether the segment's commit also waits until earlier commits are on the standby. If the outcome of an attempt is unknown, it may be
    /// committed only on the primary. A repetition that finds the changes of that attempt writes nothing. So its own commit would not wait
    /// for the standby.
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

    /// Whether the segment makes changes durable. Such a segment is never canceled. A canceled commit may succeed on the primary, and a
    /// failover could then lose it.
    var commits: Bool {
        switch kind {
        case .single(let isReadOnly): !isReadOnly
        case .commit: true
        case .inTransaction, .rollback: false
        }
    }
}

extension PostgresStatement {
    /// Whether the statement changes nothing, judged by its first word. `WITH` counts as a change, because it may contain a change. With
    /// this driver, don't use a `SELECT` that calls a function with changes.
    var isReadOnly: Bool {
        let word = text.drop { $0.isWhitespace || $0 == "(" }.prefix { $0.isLetter }.uppercased()
        return ["SELECT", "SHOW", "VALUES", "TABLE"].contains(word)
    }
}
