/// Statements that are sent together in one round trip. Their results also return together.
struct PGSegment: Sendable {
    /// The role of a segment in its transaction.
    enum Kind: Sendable, Equatable {
        /// One statement without `BEGIN`, which the server executes as a transaction.
        case single(isReadOnly: Bool)
        /// Statements of a transaction that begins with `BEGIN`, or the `COMMIT` or `ROLLBACK` at its end.
        case inTransaction, commit, rollback
    }

    /// The statements with their values, in the order of their execution.
    var statements: [(statement: PostgresStatement, values: [PostgresValue])]
    let kind: Kind
    /// Whether the segment's commit also waits until earlier commits are on the standby.
    ///
    /// Set the flag for the repetition of an attempt whose outcome is unknown, because it is possible that only the primary has the changes
    /// of this attempt. The repetition finds these changes and writes nothing. So without this flag, the commit of the repetition would not
    /// wait for the standby.
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

    /// Whether the segment can commit changes. The driver never cancels such a segment: a canceled commit can succeed on the primary, and a
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
    /// Whether the statement changes nothing, judged by its first word. `WITH` counts as a change, because it may contain a change. Don't
    /// use a `SELECT` that calls a function with changes, because the driver would treat it as read-only.
    var isReadOnly: Bool {
        let word = text.drop { $0.isWhitespace || $0 == "(" }.prefix { $0.isLetter }.uppercased()
        return ["SELECT", "SHOW", "VALUES", "TABLE"].contains(word)
    }
}
