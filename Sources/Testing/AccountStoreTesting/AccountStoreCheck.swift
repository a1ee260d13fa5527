public import AccountCore
import Foundation

/// A check of one rule that every implementation of `AccountStores` must follow. All checks together are the suite that a store must pass
/// before a server uses it.
///
/// Run each check on new, empty stores:
///
/// ```swift
/// @Test("MySQL stores pass every check", arguments: AccountStoreCheck.all)
/// func passes(_ check: AccountStoreCheck) async throws {
///     try await check.run(MySQLAccountStores(database: try await .empty()))
/// }
/// ```
///
/// A failure reports the store, the violated rule, the expected and the actual value, and the line of the check.
public struct AccountStoreCheck: Sendable, CustomStringConvertible {
    /// The store and the rule, such as `sessions: Refuses an unknown token`.
    public let description: String
    private let body: @Sendable (StoresUnderTest) async throws -> Void

    /// A violation of a rule by a store.
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

    /// Runs the check on stores, which must be new and empty.
    /// - Parameters:
    ///   - stores: The stores.
    ///   - others: Additional stores on the same data, as another process has them. Checks of concurrency then use both.
    /// - Throws: ``Violation`` if the stores violate the rule; errors of the stores.
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
/// - Parameter what: The name of the value.
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

/// Returns the results of concurrent calls, in the order in which they end.
func concurrently<Value: Sendable>(
    _ count: Int,
    _ body: @escaping @Sendable (Int) async throws -> Value
) async throws -> [Value] {
    try await withThrowingTaskGroup(of: Value.self) { group in
        for number in 0..<count { group.addTask { try await body(number) } }
        return try await group.reduce(into: []) { $0.append($1) }
    }
}
