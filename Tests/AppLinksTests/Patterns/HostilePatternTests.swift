import AppLinks
import Testing

/// Files and links that are slow on purpose. The time limit allows for a busy machine; each takes well under a second.
@Suite(.timeLimit(.minutes(10))) struct HostilePatternTests {
    private func match(pattern: String, beside: String = "", path: String) throws -> LinkMatch {
        let file = #"{"applinks":{\#(beside)"details":[{"appIDs":["A.b"],"components":[{"/":"\#(pattern)"}]}]}}"#
        return try AssociationMatcher(Array(file.utf8)).match("https://a.test/" + path)
    }

    private static let long = String(repeating: "a", count: 8_000)

    @Test("Matches many stars against many equal letters correctly and in time")
    func stars() throws {
        let stars = String(repeating: "a*", count: 2_000)
        #expect(try match(pattern: "/\(stars)b", path: Self.long).apps.isEmpty)
        #expect(try !match(pattern: "/\(stars)", path: Self.long).apps.isEmpty)
        #expect(try match(pattern: "/\(String(repeating: "*a", count: 8_001))", path: Self.long).apps.isEmpty)
        #expect(try !match(pattern: "/\(String(repeating: "*?", count: 8_000))", path: Self.long).apps.isEmpty)
    }

    @Test("Matches values that overlap many times in time")
    func overlappingValues() throws {
        let variables = #""substitutionVariables":{"x":["a","aa","*a","a*","?"]},"#
        let pattern = "/" + String(repeating: "$(x)", count: 1_000) + "b"
        #expect(try match(pattern: pattern, beside: variables, path: Self.long).apps.isEmpty)
        #expect(try !match(pattern: String(pattern.dropLast()), beside: variables, path: Self.long).apps.isEmpty)
    }

    @Test("Reports a file that names a large variable thousands of times")
    func manyLanguages() throws {
        let pattern = "/" + String(repeating: "$(lang)*", count: 10_000)
        #expect(try match(pattern: pattern, path: Self.long).apps.isEmpty)
        let file =
            #"{"applinks":{"details":[{"appIDs":["ABCDE12345.b"],"components":[{"/":"\#(pattern)"}]}]},"webcredentials":{"apps":["ABCDE12345.b"]}}"#
        #expect(AssociationLint.findings(in: Array(file.utf8)).map(\.code) == [.neverMatches])
    }

    @Test("Lints and matches the largest number of components in a file")
    func manyComponents() throws {
        let components = (0..<6_000).map { #"{"/":"/\#($0)*x"}"# }.joined(separator: ",")
        let file = Array(
            #"{"applinks":{"details":[{"appIDs":["ABCDE12345.b"],"components":[\#(components)]}]},"webcredentials":{"apps":["ABCDE12345.b"]}}"#
                .utf8
        )
        #expect(AssociationLint.findings(in: file).isEmpty)
        let match = try AssociationMatcher(file).match("https://a.test/5999" + Self.long + "x")
        #expect(match.apps == ["ABCDE12345.b"])
    }

    @Test("Lints an entry with thousands of apps and components in time")
    func manyApps() {
        let apps = (0..<3_000).map { #""ABCDE12345.a\#($0)""# }.joined(separator: ",")
        let components = (0..<3_000).map { #"{"/":"/\#($0)*x"}"# }.joined(separator: ",")
        let file = #"{"applinks":{"details":[{"appIDs":[\#(apps)],"components":[\#(components)]}]}}"#
        #expect(AssociationLint.findings(in: Array(file.utf8)).map(\.code) == [.missingWebCredentials])
    }

    @Test("Matches a link of nothing but query items in time")
    func manyItems() throws {
        let items = (0..<2_000).map { "a=\($0 % 10)" }.joined(separator: "&")
        let file = #"{"applinks":{"details":[{"appIDs":["A.b"],"components":[{"?":{"a":"?","b":""}}]}]}}"#
        #expect(try !AssociationMatcher(Array(file.utf8)).match("https://a.test/?" + items).apps.isEmpty)
    }

    @Test("Matches correctly across the word boundaries of the positions", arguments: [62, 63, 64, 65, 127, 128, 129, 191, 192])
    func wordBoundaries(length: Int) throws {
        let text = String(repeating: "a", count: length)
        #expect(try !match(pattern: "/" + text, path: text).apps.isEmpty)
        #expect(try match(pattern: "/" + text, path: text + "a").apps.isEmpty)
        #expect(try match(pattern: "/" + text + "a", path: text).apps.isEmpty)
        #expect(try !match(pattern: "/" + String(repeating: "?", count: length), path: text).apps.isEmpty)
        #expect(try match(pattern: "/" + String(repeating: "?", count: length), path: text + "b").apps.isEmpty)
        #expect(try !match(pattern: "/a*b", path: text + "b").apps.isEmpty)
        #expect(try match(pattern: "/a*b?", path: text + "b").apps.isEmpty)
    }
}
