import AppLinks
import Testing

@Suite struct LinkMatchTests {
    private static let twoApps = """
        {"applinks":{"details":[
        {"appIDs":["ABCDE12345.com.example.veggies"],"components":[{"/":"/food/*","comment":"all food"},{"/":"/secret","exclude":true}]},
        {"appIDs":["ABCDE12345.com.example.fruits","ABCDE12345.com.example.berries"],"components":[{"/":"/food/fruit/*"},{"/":"/secret"}]}]}}
        """

    private func match(_ link: String, installed: Set<String>? = nil) throws -> LinkMatch {
        try AssociationMatcher(Array(Self.twoApps.utf8)).match(link, installed: installed)
    }

    @Test("The first matching entry opens the link; the result names component and comment")
    func firstEntry() throws {
        guard case .opens(let rule) = try match("https://any.test/food/fruit/apple").outcome else {
            Issue.record("the link does not open")
            return
        }
        #expect(rule.apps == ["ABCDE12345.com.example.veggies"])
        #expect(rule.entry == 0 && rule.component == 0 && rule.comment == "all food" && !rule.isOldFormat)
    }

    @Test("Skips entries of apps that are not installed")
    func installed() throws {
        let match = try match("https://any.test/food/fruit/apple", installed: ["ABCDE12345.com.example.berries"])
        #expect(match.apps == ["ABCDE12345.com.example.berries"])
    }

    @Test("An exclusion ends the search, even if a later entry would match")
    func exclusionEndsSearch() throws {
        #expect(try match("https://any.test/secret").apps.isEmpty)
        let other = try match("https://any.test/secret", installed: ["ABCDE12345.com.example.fruits"])
        #expect(other.apps == ["ABCDE12345.com.example.fruits"])
    }

    @Test("Without a match, every component reports the first key that did not match")
    func misses() throws {
        let file =
            ##"{"applinks":{"details":[{"appID":"A.b","components":[{"/":"/r","?":{"token":"?*"}},{"/":"/r","#":"?*"},{"?":"x"},{"/":"/s"}]}]}}"##
        let match = try AssociationMatcher(Array(file.utf8)).match("https://any.test/r?email=a")
        guard case .unmatched(let misses) = match.outcome else {
            Issue.record("the link matches")
            return
        }
        #expect(misses.map(\.key) == ["?token", "#", "?", "/"])
        #expect(misses.map(\.component) == [0, 1, 2, 3])
    }

    @Test("Refuses a link over the size limit")
    func tooLong() throws {
        let link = "https://any.test/" + String(repeating: "a", count: AssociationMatcher.longestLink)
        guard case .refused(let refusal) = try match(link).outcome else {
            Issue.record("the link is looked up")
            return
        }
        #expect(refusal.code == .tooLong)
    }

    @Test(
        "Does not read invalid JSON or a file larger than Apple's limit",
        arguments: ["", "{", "<html>", String(repeating: " ", count: 131_073) + "{}"]
    )
    func unreadable(file: String) {
        #expect(throws: AssociationMatcher.Unreadable.self) { try AssociationMatcher(Array(file.utf8)) }
    }

    @Test(
        "A file without links or of another structure matches nothing",
        arguments: [
            "{}", "[]", "null", #"{"applinks":1}"#, #"{"applinks":{"details":7}}"#,
            #"{"applinks":{"details":[1,{},{"appIDs":5,"components":5}]}}"#,
            #"{"applinks":{"details":[{"appIDs":["A.b"],"components":[1,null,"/x"]}]}}"#,
        ]
    )
    func shapeless(file: String) throws {
        #expect(try AssociationMatcher(Array(file.utf8)).match("https://any.test/x").apps.isEmpty)
    }
}
