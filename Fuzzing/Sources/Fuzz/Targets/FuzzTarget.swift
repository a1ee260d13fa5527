import Foundation
import Synchronization

/// A parser of bytes from outside the server, and the properties that must hold for each input.
///
/// libFuzzer runs the targets in the package `Fuzzing`, and `FuzzTests` in the tests of the server.
protocol FuzzTarget: Sendable {
    /// Creates the target.
    /// - Parameter folder: A folder for its files.
    init(folder: URL) throws
    /// Parses an input. A crash, a hang and a ``Finding`` are defects.
    func check(_ input: [UInt8]) throws
}

/// All targets, by their names in `scripts/fuzz`.
let fuzzTargets: [String: any FuzzTarget.Type] = [
    "associations": AssociationTarget.self,
    "bodies": BodyTarget.self,
    "errors": ErrorTarget.self,
    "fields": FieldTarget.self,
    "http": HTTPTarget.self,
    "imports": ImportTarget.self,
    "links": LinkTarget.self,
    "settings": SettingTarget.self,
]

/// A property that an input violates.
struct Finding: Error, CustomStringConvertible {
    let description: String
}

/// Throws a ``Finding`` unless a condition holds.
func require(_ condition: Bool, _ description: @autoclosure () -> String) throws {
    guard condition else { throw Finding(description: description()) }
}

/// Runs an operation to its end on the calling thread, which must not be one of the concurrency pool.
func waiting<Value: Sendable>(_ operation: @escaping @Sendable () async throws -> Value) throws -> Value {
    let done = DispatchSemaphore(value: 0)
    let result = Mutex<Result<Value, any Error>?>(nil)
    Task.detached {
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await operation()) } catch { outcome = .failure(error) }
        result.withLock { $0 = outcome }
        done.signal()
    }
    done.wait()
    guard let outcome = result.withLock({ $0 }) else { throw Finding(description: "an operation ended without a result") }
    return try outcome.get()
}
