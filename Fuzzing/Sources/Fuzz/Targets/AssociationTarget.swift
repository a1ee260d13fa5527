import AppLinks
import ErrorContract
import Foundation
import StrictJSON

/// Lints an `apple-app-site-association` file and matches a link with it. The input is the link, a newline, and the file.
struct AssociationTarget: FuzzTarget {
    init(folder: URL) throws {}

    func check(_ input: [UInt8]) throws {
        let link = String(decoding: input.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        let file = Array(input.drop { $0 != UInt8(ascii: "\n") }.dropFirst())
        let report = LinksReport(file: "file", bytes: file, links: [link])
        let matcher = try? AssociationMatcher(file)
        let isRefused = report.findings.contains { [.notJSON, .signed, .tooLarge].contains($0.code) }
        try require((matcher == nil) == isRefused, "the lint and the matcher differ about the file")
        let response = matcher?.match(link) ?? report.matches.first
        try require(
            report.matches.count == 1 && report.matches.first == response,
            "the report and the matcher differ about a link"
        )
        try require(try JSONParser().parse(report.json.encoded()) == report.json, "the report is not JSON")
        try require(!report.text.isEmpty, "the report has no text")
        // The host and the scheme of a link are not case-sensitive.
        if let matcher, case .opens(let rule) = matcher.match(link).outcome, link.hasPrefix("https://") {
            let other = matcher.match("HTTPS" + link.dropFirst(5)).outcome
            try require(other == .opens(rule), "the case of the scheme decides")
        }
    }
}
