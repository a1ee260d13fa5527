import AppLinks
import Testing

@Suite struct LinkMatchTests {
    private static let twoApps = """
        {"applinks":{"details":[
        {"appIDs":["ABCDE12345.com.example.veggies"],"components":[{"/":"/food/*","comment":"all food"},{"/":"/secret","exclude":true}]},
        {"appIDs":["ABCDE12345.com.example.fruits","ABCDE12345.com.example.berries"],"components":[{"/":"/food/fruit/*"},{"/":"/secret"}]}]}}
        """

    private func answer(_ link: String, installed: Set<String>? = nil) throws -> LinkMatch {
        try AssociationMatcher(Array(Self.twoApps.utf8)).answer(link, installed: installed)
    }

    @Test("The entry that is first in the file opens the link, and the answer names component and comment")
    func firstEntry() throws {
        guard case .opens(let rule) = try answer("https://any.test/food/fruit/apple").outcome else {
            Issue.record("the link does not open")
            return
        }
        #expect(rule.apps == ["ABCDE12345.com.example.veggies"])
        #expect(rule.entry == 0 && rule.component == 0 && rule.comment == "all food" && !rule.isOldFormat)
    }

    @Test("Entries of apps that are not on the phone are passed over")
    func installed() throws {
        let answer = try answer("https://any.test/food/fruit/apple", installed: ["ABCDE12345.com.example.berries"])
        #expect(answer.apps == ["ABCDE12345.com.example.berries"])
    }

    @Test("An exclusion ends the search, though a later entry would take the link")
    func exclusionEndsSearch() throws {
        #expect(try answer("https://any.test/secret").apps.isEmpty)
        let other = try answer("https://any.test/secret", installed: ["ABCDE12345.com.example.fruits"])
        #expect(other.apps == ["ABCDE12345.com.example.fruits"])
    }

    @Test("Without a match, every component tells the first key that did not fit")
    func misses() throws {
        let file =
            ##"{"applinks":{"details":[{"appID":"A.b","components":[{"/":"/r","?":{"token":"?*"}},{"/":"/r","#":"?*"},{"?":"x"},{"/":"/s"}]}]}}"##
        let answer = try AssociationMatcher(Array(file.utf8)).answer("https://any.test/r?email=a")
        guard case .unmatched(let misses) = answer.outcome else {
            Issue.record("the link matches")
            return
        }
        #expect(misses.map(\.key) == ["?token", "#", "?", "/"])
        #expect(misses.map(\.component) == [0, 1, 2, 3])
    }

    @Test("A link past the limit is refused")
    func tooLong() throws {
        let link = "https://any.test/" + String(repeating: "a", count: AssociationMatcher.longestLink)
        guard case .refused(let refusal) = try answer(link).outcome else {
            Issue.record("the link is looked up")
            return
        }
        #expect(refusal.code == .tooLong)
    }

    @Test(
        "What is no JSON, or larger than Apple takes, is not read",
        arguments: ["", "{", "<html>", String(repeating: " ", count: 131_073) + "{}"]
    )
    func unreadable(file: String) {
        #expect(throws: AssociationMatcher.Unreadable.self) { try AssociationMatcher(Array(file.utf8)) }
    }

    @Test(
        "A file without links, or of another shape, matches nothing",
        arguments: [
            "{}", "[]", "null", #"{"applinks":1}"#, #"{"applinks":{"details":7}}"#,
            #"{"applinks":{"details":[1,{},{"appIDs":5,"components":5}]}}"#,
            #"{"applinks":{"details":[{"appIDs":["A.b"],"components":[1,null,"/x"]}]}}"#,
        ]
    )
    func shapeless(file: String) throws {
        #expect(try AssociationMatcher(Array(file.utf8)).answer("https://any.test/x").apps.isEmpty)
    }
}
