import Foundation
import NIOCore

/// The number of processors that the process can use, within the limits of control groups and the affinity mask. The server hashes at most
/// this number of passwords at the same time.
package enum ProcessorCount {
    /// The number, at least 1. The process reads it only at the first access.
    package static let available: Int = {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        return max(1, min(System.coreCount, allowed(in: status) ?? .max))
    }()

    /// Returns the number of processors in the affinity mask, which is the line `Cpus_allowed:` of a text.
    /// - Parameter status: The text of `/proc/self/status` on Linux.
    /// - Returns: The number; `nil` if the text doesn't contain the line.
    package static func allowed(in status: String) -> Int? {
        let key = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(key) }) else { return nil }
        let count = line.dropFirst(key.count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }
}
