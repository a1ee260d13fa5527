import AppLinks
import ErrorContract
import HoldfastTesting
import StrictJSON
import Testing

@Suite(.timeLimit(.minutes(5))) struct AssociationFuzzTests {
    private static let files = [
        ##"{"applinks":{"details":[{"appIDs":["ABCDE12345.com.example.app"],"components":[{"/":"/reset-password","?":{"token":"?*"}},{"/":"/r*","#":"?*","exclude":true}]}]},"webcredentials":{"apps":["ABCDE12345.com.example.app"]}}"##,
        #"{"applinks":{"apps":[],"details":[{"appID":"ABCDE12345.com.example.app","paths":["NOT /a/*","/b?","*"]}]}}"#,
        #"{"applinks":{"defaults":{"caseSensitive":false,"percentEncoded":false},"substitutionVariables":{"food":["pizza","x*"]},"details":[{"appIDs":["A.b"],"defaults":{"exclude":false},"components":[{"/":"/$(lang)/$(food)/$(digit)","comment":"é💥"}]}]}}"#,
        #"{"applinks":{"details":{"A.b":{"paths":["/x"]}}},"appclips":{"apps":["ABCDE12345.com.example.Clip"]}}"#,
    ]
    private static let links = [
        "https://example.com/reset-password?token=abc&email=a%40b.c", "https://example.com/en/PIZZA/7#t",
        "https://user@EXAMPLE.com:443//b/?a&a=&=b&&",
        "https://[::1]:8080/a%2Fb%zz%", "https://example.com?x#y?z", "https://exämple.com/é💥/\u{301}",
    ]
    private static let tokens = [
        "{", "}", "[", "]", ":", ",", "\"", "\\", "\\u0000", "\\uD83D\\uDCA5", "null", "true", "1e9", "*", "?", "?*", "$(", ")",
        "$(lang)", "$(region)", "/", "//", "#",
        "%", "%C3", "%00", "&", "=", "@", "\u{FEFF}", "\u{0}", "é", "NOT ", "https://", "\"exclude\":true,", "\"?\":{}",
        "\"components\":",
    ]

    private static func mutated(_ seed: String?, _ generator: inout SplitMix64) -> [UInt8] {
        var bytes = Array((seed ?? "").utf8)
        bytes.mutate(using: &generator, kinds: 8) { Array((tokens.randomElement(using: &$0) ?? "").utf8) }
        return bytes
    }

    @Test("For any file and link nothing traps, and lint, matcher and report agree", arguments: [1, 2, 3, 4] as [UInt64])
    func mutations(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        var readable = 0
        var opened = 0
        for _ in 0..<2_500 {
            let file = Self.mutated(Self.files.randomElement(using: &generator), &generator)
            let whole = Self.links.randomElement(using: &generator) ?? ""
            let mutatedLink = String(decoding: Self.mutated(whole, &generator), as: UTF8.self)
            let link = Bool.random(using: &generator) ? whole : mutatedLink
            let report = LinksReport(
                file: "f",
                bytes: file,
                domain: Bool.random(using: &generator) ? "example.com" : nil,
                links: [link]
            )
            let refuses = { (finding: AssociationFinding) in finding.code == .notJSON || finding.code == .signed }
            let isReadable = (try? AssociationMatcher(file)) != nil
            readable += isReadable ? 1 : 0
            opened += report.matches.allSatisfy { $0.apps.isEmpty } ? 0 : 1
            guard report.matches.count == 1, isReadable != report.findings.contains(where: refuses),
                !report.text.isEmpty, try JSONParser().parse(report.json.encoded()) == report.json
            else {
                Issue.record("lint and matcher differ on \(String(decoding: file, as: UTF8.self)) with \(link)")
                return
            }
        }
        #expect((250..<2_250).contains(readable), "the mutations leave some files readable")
        #expect(opened > 10, "some links open")
    }

    @Test("Reports random bytes as invalid and opens no link with them", arguments: [21, 22] as [UInt64])
    func noise(seed: UInt64) {
        var generator = SplitMix64(seed: seed)
        for _ in 0..<1_000 {
            let bytes = (0..<Int.random(in: 0...64, using: &generator)).map { _ in
                UInt8.random(in: .min ... .max, using: &generator)
            }
            let link = "https://" + String(decoding: bytes, as: UTF8.self)
            let report = LinksReport(file: "f", bytes: bytes, links: [link, String(link.dropFirst(8))])
            guard !report.isGood, !report.findings.isEmpty else {
                Issue.record("\(bytes) is good")
                return
            }
        }
    }
}
