import ErrorContract
import Synchronization

/// Runs the steps of the demo one after another. Each step has a number, and its result is printed.
final class Steps: Sendable {
    private let printer: DemoPrinter
    private let count = Mutex(0)

    /// Returns a description of the requests that the demo sends in the background during the steps. While a step takes long, the printer
    /// shows the description as the progress of the step.
    private let status: (@Sendable () -> String)?

    /// Creates a sequence without steps.
    /// - Parameters:
    ///   - printer: Prints the steps.
    ///   - status: Returns a description of the requests that the demo sends in the background during the steps, such as their number.
    ///     Pass `nil` to show no progress.
    init(printer: DemoPrinter, status: (@Sendable () -> String)? = nil) {
        (self.printer, self.status) = (printer, status)
    }

    /// Runs a step that must succeed, and prints its result.
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
        let ticker = ticker(title)
        defer { ticker?.cancel() }
        do {
            let value = try await body()
            ticker?.cancel()
            printer.done(number, title, describe(value))
            return value
        } catch {
            ticker?.cancel()
            if !(error is CancellationError) { printer.failed(number, title, "\(error)") }
            throw error
        }
    }

    /// Shows the progress of a step: every second on a terminal with colors, and otherwise every five seconds.
    private func ticker(_ title: String) -> Task<Void, any Error>? {
        status.map { status in
            Task { [printer] in
                for second in 1... {
                    try await Task.sleep(for: .seconds(1))
                    if printer.isColored || second.isMultiple(of: 5) { printer.progress("\(title), \(second) s: \(status())") }
                }
            }
        }
    }

    /// Runs a step that the server must refuse with a code. Another error or a success is a failure of the demo.
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

    /// Returns the number of the next step, from 1.
    private func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// Checks a result of a demo.
/// - Parameters:
///   - condition: Whether the result is as expected.
///   - otherwise: A description of the unexpected result.
/// - Throws: ``DemoStory/Unexpected`` if the condition is false.
func expect(_ condition: Bool, _ otherwise: @autoclosure () -> String) throws {
    guard condition else { throw DemoStory.Unexpected(description: otherwise()) }
}
