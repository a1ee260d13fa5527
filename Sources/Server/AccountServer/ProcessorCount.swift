import Foundation
import NIOCore

/// How many processors the process may use: control groups bound their time, and an affinity mask says which.
package enum ProcessorCount {
    package static let available: Int = {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        return max(1, min(System.coreCount, allowed(in: status) ?? .max))
    }()

    /// The number of processors in the affinity mask.
    /// - Parameter status: `/proc/self/status` of Linux; `nil` if it has no such line.
    package static func allowed(in status: String) -> Int? {
        let key = "Cpus_allowed:"
        guard let line = status.split(separator: "\n").first(where: { $0.hasPrefix(key) }) else { return nil }
        let count = line.dropFirst(key.count).reduce(0) { $0 + ($1.hexDigitValue?.nonzeroBitCount ?? 0) }
        return count > 0 ? count : nil
    }
}
