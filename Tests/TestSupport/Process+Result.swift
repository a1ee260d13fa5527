#if os(Linux) || os(macOS)
    public import Foundation

    /// The status and the output of a process that has ended.
    public struct ProcessResult: Sendable {
        public let status: Int32
        public let output: String
        public let errors: String
    }

    extension Process {
        /// Starts the process, and waits until it has ended.
        /// - Parameter input: The standard input. The process reads it from a file, because it may end before it has read a pipe.
        public func result(input: Data? = nil) async throws -> ProcessResult {
            if let input {
                let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-input-\(UUID().uuidString)")
                try input.write(to: file)
                defer { try? FileManager.default.removeItem(at: file) }
                standardInput = try FileHandle(forReadingFrom: file)
            }
            let (output, errors) = (Pipe.make(), Pipe.make())
            (standardOutput, standardError) = (output, errors)
            try start()
            async let text = output.fileHandleForReading.rest()
            async let complaint = errors.fileHandleForReading.rest()
            return try await ProcessResult(status: ended(), output: text, errors: complaint)
        }
    }
#endif
