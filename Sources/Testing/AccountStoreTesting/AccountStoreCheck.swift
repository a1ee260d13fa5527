public import AccountCore
import Foundation

/// One thing that every implementation of `AccountStores` does: the suite that a store passes before a server may use it.
///
/// Try all checks on new, empty stores each:
///
/// ```swift
/// @Test("MySQL stores pass every check", arguments: AccountStoreCheck.all)
/// func passes(_ check: AccountStoreCheck) async throws {
///     try await check.run(MySQLAccountStores(database: try await .empty()))
/// }
/// ```
///
/// A failure names the store, the rule that it breaks, the expected and the actual value, and the line of the check.
public struct AccountStoreCheck: Sendable, CustomStringConvertible {
    /// The store and what it does, as in `sessions: Refuses an unknown token`.
    public let description: String
    private let body: @Sendable (StoresUnderTest) async throws -> Void

    /// A store does not do what it should.
    public struct Violation: Error, CustomStringConvertible {
        /// The check, the difference, and the line of the check.
        public let description: String
    }

    init(_ store: String, _ rule: String, _ body: @escaping @Sendable (StoresUnderTest) async throws -> Void) {
        description = "\(store): \(rule)"
        self.body = body
    }

    /// All checks of all stores.
    public static let all =
        accounts + sessions + resetTokens + accountLockTokens + intents + sentResets + audit + decoys + signingKeys

    /// Tries stores, which must be new and empty.
    /// - Parameters:
    ///   - stores: The stores.
    ///   - others: Further stores on the same data, as another process has them. Checks of concurrency then use both.
    /// - Throws: ``Violation`` if they do not do what they should; errors of the stores.
    public func run(_ stores: any AccountStores, sharedWith others: (any AccountStores)? = nil) async throws {
        do {
            try await body(StoresUnderTest(stores: stores, others: others ?? stores))
        } catch let difference as Difference {
            throw Violation(description: "\(description): \(difference)")
        }
    }
}

/// A difference between the behavior of a store and the rule.
struct Difference: Error, CustomStringConvertible {
    let description: String
}

/// Requires that two values are equal.
/// - Parameter what: Names the value.
func require<Value: Equatable>(
    _ actual: Value,
    equals expected: Value,
    _ what: @autoclosure () -> String,
    line: Int = #line,
    file: String = #fileID
) throws {
    guard actual != expected else { return }
    throw Difference(description: "\(what()) should be \(expected) and is \(actual) (\(file):\(line))")
}

/// Requires that a condition holds.
/// - Parameter rule: The rule that is broken otherwise.
func require(_ condition: Bool, _ rule: @autoclosure () -> String, line: Int = #line, file: String = #fileID) throws {
    guard !condition else { return }
    throw Difference(description: "\(rule()) (\(file):\(line))")
}

/// Requires that an operation throws.
func requireFailure(
    _ rule: String,
    line: Int = #line,
    file: String = #fileID,
    of operation: () async throws -> Void
) async throws {
    do {
        try await operation()
    } catch {
        return
    }
    throw Difference(description: "\(rule) (\(file):\(line))")
}

/// Returns what concurrent calls return, in the order in which they end.
func concurrently<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
