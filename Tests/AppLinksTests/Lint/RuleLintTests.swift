import AppLinks
import Testing

@Suite struct RuleLintTests {
    private func findings(components: String, beside: String = "") -> [AssociationFinding] {
        let entry = #"{"appIDs":["ABCDE12345.com.example.app"],"components":\#(components)}"#
        let file = #"{"applinks":{\#(beside)"details":[\#(entry)]},\#(LintCase.credentials)}"#
        return AssociationLint.findings(in: Array(file.utf8))
    }

    @Test(
        "Reports a component behind one that matches all its links",
        arguments: [
            #"[{},{"/":"/a"}]"#,
            #"[{"/":"*"},{"/":"/a","exclude":true}]"#,
            #"[{"/":"/*","comment":"all"},{"/":"/a"}]"#,
            #"[{"/":"/a/*"},{"/":"/a/b"}]"#,
            #"[{"/":"/a/*"},{"/":"/a"}]"#,
            #"[{"/":"/a*"},{"/":"/a/*"}]"#,
            #"[{"/":"/a"},{"/":"/a/","?":{"b":"1"}}]"#,
            #"[{"/":"/a","?":{"b":"*"}},{"/":"/a","?":"c"}]"#,
            #"[{"?":{"b":"1"}},{"?":{"b":"1","c":"2"}}]"#,
            ##"[{"/":"/a","#":"?*"},{"/":"/a","#":"?*"}]"##,
            #"[{"/":"/a","?":"*"},{"/":"/a","caseSensitive":true}]"#,
        ]
    )
    func unreachable(components: String) {
        let findings = findings(components: components)
        #expect(findings.map(\.code) == [.unreachable], "\(findings)")
        #expect(findings.first?.place == "applinks.details[0].components[1]")
        #expect(findings.first?.message.contains("components[0]") == true)
    }

    @Test(
        "Accepts a component that matches links no earlier one matches",
        arguments: [
            #"[{"/":"/a/*","exclude":true},{"/":"*"}]"#,
            #"[{"/":"/a/?*"},{"/":"/a"}]"#,
            #"[{"/":"/a","?":{"b":"?*"}},{"/":"/a"}]"#,
            #"[{"?":{"b":"1","c":"2"}},{"?":{"b":"1"}}]"#,
            ##"[{"/":"/r","?":{"token":"?*"}},{"/":"/r","#":"?*"}]"##,
            #"[{"/":"/A"},{"/":"/a","caseSensitive":false}]"#,
            #"[{"/":"/a*b"},{"/":"/ab"}]"#,
        ]
    )
    func reachable(components: String) {
        #expect(findings(components: components).isEmpty)
    }

    @Test("Reports an entry only if an earlier one takes all its links for the same app")
    func entries() {
        let apps = [#""ABCDE12345.com.example.app""#, #""ABCDE12345.com.example.app","ABCDE12345.com.example.beta""#]
        let entry = { (apps: String) in #"{"appIDs":[\#(apps)],"components":[{"/":"/a/*"}]}"# }
        let codes = { (details: [String]) in
            let file = #"{"applinks":{"details":[\#(details.joined(separator: ","))]},"webcredentials":{"apps":[\#(apps[1])]}}"#
            return AssociationLint.findings(in: Array(file.utf8)).map(\.code)
        }
        #expect(codes([entry(apps[1]), entry(apps[0])]) == [.unreachable])
        #expect(codes([entry(apps[0]), entry(apps[1])]) == [])
    }

    @Test(
        "Reports a pattern that no link can match",
        arguments: [
            (##"[{"/":"/#/market"}]"##, "/"), (#"[{"/":"/a b"}]"#, "/"), (#"[{"/":"/café"}]"#, "/"), (#"[{"?":{"q":"ä"}}]"#, "?"),
            (##"[{"#":"a b"}]"##, "#"), (#"[{"/":"/$(lang"}]"#, "/"),
        ]
    )
    func neverMatches(components: String, key: String) {
        let findings = findings(components: components)
        #expect(findings.map(\.code) == [.neverMatches])
        #expect(findings.first?.place == "applinks.details[0].components[0].\(key)")
    }

    @Test("Accepts plain letters where the defaults disable percent-encoding")
    func decoded() {
        #expect(findings(components: #"[{"/":"/café"}]"#, beside: #""defaults":{"percentEncoded":false},"#).isEmpty)
    }

    @Test(
        "Validates variables by Apple's rules",
        arguments: [
            (#"{"a$":["x"]}"#, FindingCode.badVariable), (#"{"a":[]}"#, .badVariable), (#"{"a":["$(b)"]}"#, .badVariable),
            (#"{"lang":["x"]}"#, .badVariable), (#"{"a":"x"}"#, .wrongType), (#"{"a":[1]}"#, .wrongType),
            (#"{"a":["x","y*"]}"#, nil),
        ] as [(String, FindingCode?)]
    )
    func variables(variables: String, code: FindingCode?) {
        let findings = findings(components: #"[{"/":"/a"}]"#, beside: #""substitutionVariables":\#(variables),"#)
        #expect(findings.map(\.code) == (code.map { [$0] } ?? []))
    }

    @Test("Reports an undefined variable, and one in the wrong case", arguments: ["$(food)", "$(Lang)", "$()"])
    func unknownVariable(name: String) {
        #expect(findings(components: #"[{"/":"/\#(name)"}]"#).map(\.code) == [.unknownVariable])
    }
}
