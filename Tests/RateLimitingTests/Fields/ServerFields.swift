import RateLimiting
import Testing

/// The fields of one response, one per line, and the limits that they contain.
struct ServerFields: Sendable, CustomTestStringConvertible {
    let server: String
    let lines: String
    let limits: [ServerLimit]

    init(_ server: String, _ lines: String, _ limits: ServerLimit...) {
        (self.server, self.lines, self.limits) = (server, lines, limits)
    }

    var testDescription: String { "\(server): \(lines.split(separator: "\n").joined(separator: " | "))" }

    /// Returns the values of a field without surrounding blanks, as every HTTP library does.
    func values(_ name: String) -> [String] {
        lines.split(separator: "\n").compactMap { line in
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair[0].lowercased() == name, pair.count == 2 else { return nil }
            return String(pair[1].drop { $0 == " " })
        }
    }
}
