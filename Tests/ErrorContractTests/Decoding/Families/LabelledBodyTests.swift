import ErrorContract
import Foundation
import Testing

@Suite struct LabelledBodyTests {
    @Test("A body of a known shape is read as its label says", arguments: LabelledBody.all)
    func read(body: LabelledBody) {
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
    func coverage() {
        #expect(LabelledBody.all.count >= 150)
        let rows = Dictionary(grouping: LabelledBody.all, by: \.row)
        for row in 1...48 { #expect(rows[row, default: []].count >= 2, "row \(row)") }
        #expect(Set(LabelledBody.all.map(\.testDescription)).count == LabelledBody.all.count, "a label names one body")
    }

    /// How many of some bodies were read right, fact by fact.
    private struct Score {
        var bodies = 0
        var status = 0
        var retryAfter = 0
        var code = 0
        var requestID = 0
        var violations = 0
        var message = 0
        var family = 0

        mutating func count(_ body: LabelledBody) {
            let (read, expected) = (body.decoded, body.expected)
            bodies += 1
            status += read.status == expected.status ? 1 : 0
            retryAfter += read.retryAfter == expected.retryAfter ? 1 : 0
            code += read.code == expected.code ? 1 : 0
            requestID += read.requestID == expected.requestID ? 1 : 0
            violations += read.violations == expected.violations ? 1 : 0
            message += read.message == expected.message ? 1 : 0
            family += read.family == expected.family ? 1 : 0
        }

        func line(_ name: String) -> String {
            let numbers = [bodies, status, retryAfter, code, requestID, violations, message, family]
            return Self.columns(name, numbers.map { "\($0)" })
        }

        static func columns(_ name: String, _ cells: [String]) -> String {
            name.padding(toLength: 22, withPad: " ", startingAt: 0)
                + cells.map { String(repeating: " ", count: max(0, 9 - $0.count)) + $0 }.joined()
        }
    }

    @Test("The score reaches the mark")
    func score() {
        var total = Score()
        var families: [Int: Score] = [:]
        for body in LabelledBody.all {
            total.count(body)
            families[body.row, default: Score()].count(body)
        }
        var lines = [Score.columns("row family", ["bodies", "status", "retry", "code", "id", "fields", "message", "family"])]
        for (row, score) in families.sorted(by: { $0.key < $1.key }) {
            let name = LabelledBody.all.first { $0.row == row }?.expected.family.rawValue ?? ""
            lines.append(score.line("\(row) \(name)"))
        }
        print((lines + [total.line("all")]).joined(separator: "\n"))
        let share = { (right: Int) in Double(right) / Double(max(1, total.bodies)) }
        #expect(share(total.status) == 1)
        #expect(share(total.retryAfter) == 1)
        #expect(share(total.code) >= 0.97)
        #expect(share(total.requestID) >= 0.97)
        #expect(share(total.violations) >= 0.95)
    }
}
