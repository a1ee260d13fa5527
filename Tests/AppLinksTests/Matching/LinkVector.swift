import AppLinks
import Testing

/// A link and a file with the expected result, and the rule of Apple's that it demonstrates.
struct LinkVector: Sendable, CustomTestStringConvertible {
    enum Expected: Hashable, Sendable {
        /// The component that opens it.
        case opens(Int)
        case excluded(Int)
        case unmatched
        case refused(LinkMismatch.Code)
    }

    let rule: String
    let file: String
    let link: String
    let expected: Expected

    /// Creates a vector whose file has one entry with these components.
    init(_ rule: String, _ components: String, _ link: String, _ expected: Expected) {
        self.init(rule, details: #"[{"appIDs":["ABCDE12345.com.example.app"],"components":\#(components)}]"#, link, expected)
    }

    /// Creates a vector with complete `details` and other members of `applinks`.
    init(_ rule: String, details: String, beside: String = "", _ link: String, _ expected: Expected) {
        self.rule = rule
        file = #"{"applinks":{\#(beside.isEmpty ? "" : beside + ",")"details":\#(details)}}"#
        self.link = link.hasPrefix("/") ? "https://example.com" + link : link
        self.expected = expected
    }

    var testDescription: String { "\(rule): \(link)" }

    func outcome() throws -> Expected {
        switch try AssociationMatcher(Array(file.utf8), domain: "example.com").match(link).outcome {
        case .opens(let rule): .opens(rule.component)
        case .excluded(let rule): .excluded(rule.component)
        case .unmatched: .unmatched
        case .refused(let refusal): .refused(refusal.code)
        }
    }
}
