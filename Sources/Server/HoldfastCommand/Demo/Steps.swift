import ErrorContract
import Synchronization

/// Runs the steps of the demo one after the other, numbers and prints them.
final class Steps: Sendable {
    private let printer: DemoPrinter
    private let count = Mutex(0)

    init(printer: DemoPrinter) {
        self.printer = printer
    }

    /// Runs a step that must succeed; what it returns is printed.
    func run(_ title: String, _ body: () async throws -> String) async throws {
        _ = try await run(title, body) { $0 }
    }

    /// Runs a step that must succeed.
    func run<Value>(
        _ title: String,
        _ body: () async throws -> Value,
        describe: (Value) -> String
    ) async throws -> Value {
        let number = next()
        do {
            let value = try await body()
            printer.done(number, title, describe(value))
            return value
        } catch {
            printer.failed(number, title, "\(error)")
            throw error
        }
    }

    /// Runs a step that the server must refuse.
    @discardableResult
    func refused(_ title: String, _ code: ErrorCode, _ body: () async throws -> Void) async throws -> APIError {
        let number = next()
        do {
            try await body()
        } catch let error as APIError where error.code == code {
            printer.done(number, "\(title) is refused", "\(error.status ?? 0) \(code): \(error.message ?? "")")
            return error
        } catch {
            printer.failed(number, "\(title) is refused", "\(error)")
            throw error
        }
        printer.failed(number, "\(title) is refused", "it was accepted")
        throw DemoStory.Unexpected(description: "\(title) was accepted")
    }

    private func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
