import ErrorContract
import Foundation
import Testing

@Suite struct LabeledBodyTests {
    @Test("Reads a body of a known structure as labeled", arguments: LabeledBody.all)
    func read(body: LabeledBody) {
        let (read, expected) = (body.decoded, body.expected)
        #expect(read.status == expected.status)
        #expect(read.family == expected.family)
        #expect(read.code == expected.code)
        #expect(read.message == expected.message)
        #expect(read.retryAfter == expected.retryAfter)
        #expect(read.requestID == expected.requestID)
        #expect(read.violations == expected.violations)
    }

    @Test("There are at least 150 bodies, and at least two of each of the 48 families")
    func coverage() throws {
        let bodies = try LabeledBody.loaded.get()
        #expect(bodies.count >= 150)
        let rows = Dictionary(grouping: bodies, by: \.row)
        for row in 1...48 { #expect(rows[row, default: []].count >= 2, "row \(row)") }
        #expect(Set(bodies.map { $0.testDescription + ($0.source ?? "") }).count == bodies.count, "a label names one body")
    }

    /// The number of bodies that were read correctly, for each fact.
    private struct Score {
        var bodies = 0
        var status = 0
        var retryAfter = 0
        var code = 0
        var requestID = 0
        var violations = 0

        mutating func count(_ body: LabeledBody) {
            let (read, expected) = (body.decoded, body.expected)
            bodies += 1
            status += read.status == expected.status ? 1 : 0
            retryAfter += read.retryAfter == expected.retryAfter ? 1 : 0
            code += read.code == expected.code ? 1 : 0
            requestID += read.requestID == expected.requestID ? 1 : 0
            violations += read.violations == expected.violations ? 1 : 0
        }

        /// Returns a line of the table, with fractions for the totals.
        func line(_ name: String, asShare: Bool = false) -> String {
            let facts = [status, retryAfter, code, requestID, violations]
            let shares = facts.map { "\(Double($0 * 1_000 / max(1, bodies)) / 10) %" }
            return Self.columns(name, ["\(bodies)"] + (asShare ? shares : facts.map { "\($0)" }))
        }

        static func columns(_ name: String, _ cells: [String]) -> String {
            name.padding(toLength: 22, withPad: " ", startingAt: 0)
                + cells.map { String(repeating: " ", count: max(0, 12 - $0.count)) + $0 }.joined()
        }
    }

    @Test("Reads status and delay always, the code and id of 97%, the fields of 95%")
    func score() {
        var total = Score()
        var captured = Score()
        var families: [String: Score] = [:]
        for body in LabeledBody.all {
            total.count(body)
            if body.source != nil { captured.count(body) }
            families[body.expected.family.rawValue, default: Score()].count(body)
        }
        var lines = [Score.columns("family", ["bodies", "status", "retryAfter", "code", "request id", "fields"])]
        lines += families.sorted { $0.key < $1.key }.map { $1.line($0) }
        lines += [total.line("all"), total.line("all", asShare: true)]
        if captured.bodies > 0 { lines.append(captured.line("captured", asShare: true)) }
        print(lines.joined(separator: "\n"))
        let share = { (right: Int) in Double(right) / Double(max(1, total.bodies)) }
        #expect(share(total.status) == 1)
        #expect(share(total.retryAfter) == 1)
        #expect(share(total.code) >= 0.97)
        #expect(share(total.requestID) >= 0.97)
        #expect(share(total.violations) >= 0.95)
    }
}
