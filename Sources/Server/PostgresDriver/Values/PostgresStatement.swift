/// The text of a statement: a literal, or several joined literals. Values are always bound, as `$1` and so on.
///
/// ```swift
/// try await client.execute("UPDATE account SET state = $1 WHERE id = $2", [.text("active"), .uuid(id)])
/// ```
///
/// A statement consists only of literals. So no text of a request can become a part of the statement, and code that would allow SQL
/// injection doesn't compile.
public struct PostgresStatement: ExpressibleByStringLiteral, Hashable, Sendable {
    /// The text.
    public let text: String

    /// Creates a statement from a literal. A literal with interpolated values does not compile.
    public init(stringLiteral literal: StaticString) {
        text = "\(literal)"
    }

    private init(text: String) {
        self.text = text
    }

    /// Joins two parts of a statement.
    public static func + (first: PostgresStatement, second: PostgresStatement) -> PostgresStatement {
        PostgresStatement(text: first.text + second.text)
    }
}
