/// The names of the statements that a connection has prepared.
///
/// Statements consist of literals, so their number is usually small. But a caller can join literals to many different statements.
/// Therefore, a limit protects the server's memory.
struct PreparedStatements {
    /// A statement with the types of its arguments. The server prepares a plan for each combination.
    struct Key: Hashable {
        let statement: PostgresStatement
        let types: [UInt32]
    }

    /// The largest number of prepared statements. Further statements are sent without preparation.
    static let limit = 512

    private var names: [PostgresStatement: [(types: [UInt32], name: String)]] = [:]
    private var count = 0
    /// The number of the next name. Each name is used only once. A statement that this type has removed stays on the server, so a new
    /// statement with its name would fail.
    private var lastName = 0

    /// Returns the name under which a statement with arguments of the given types is or will be prepared.
    /// - Returns: The name, and the key to insert if the statement must be prepared first. The result is `nil` if there are too many
    ///   statements.
    mutating func name(of statement: PostgresStatement, _ types: [UInt32]) -> (name: String, key: Key?)? {
        // NULL is bound without a type, and it matches every type.
        let known = names[statement]?.first { known in
            zip(known.types, types).allSatisfy { $0 == $1 || $1 == PostgresType.unspecified }
        }
        if let known { return (known.name, nil) }
        guard count < Self.limit else { return nil }
        lastName += 1
        return ("h\(lastName)", Key(statement: statement, types: types))
    }

    /// Records that a statement has been prepared.
    mutating func insert(_ key: Key, name: String) {
        names[key.statement, default: []].append((key.types, name))
        count += 1
    }

    /// Removes all names, so that statements are prepared again.
    mutating func removeAll() {
        (names, count) = ([:], 0)
    }
}
