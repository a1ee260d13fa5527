import AppLinks

extension LinkVector {
    private static func food(_ pattern: String, _ link: String, _ expected: Expected, rule: String, more: String = "")
        -> LinkVector
    {
        LinkVector(
            rule,
            details: #"[{"appIDs":["ABCDE12345.com.example.app"],"components":[{"/":"\#(pattern)"\#(more)}]}]"#,
            beside:
                #""substitutionVariables":{"food":["burrito","pizza","x*z","?"],"none":[],"Food":["soup"],"digit":["seven"]}"#,
            link,
            expected
        )
    }

    /// Apple, "applinks.SubstitutionVariables".
    static let variables: [LinkVector] = [
        food("/$(lang)_$(region)/$(food)/", "/en_US/pizza/", .opens(0), rule: "Variables stand beside each other"),
        food("/$(food)", "/tacos", .unmatched, rule: "A variable takes its values only"),
        food("/$(food)", "/xyyz", .opens(0), rule: "Values can have *"),
        food("/$(food)", "/q", .opens(0), rule: "Values can have ?"),
        food("/$(food)$(food)", "/pizzapizza", .opens(0), rule: "A variable can occur twice"),
        food("/$(food)", "/$(food)", .unmatched, rule: "A variable's name is no text"),
        food("/$(Food)", "/soup", .opens(0), rule: "Names count case"),
        food("/$(food)", "/PIZZA", .unmatched, rule: "Values count case"),
        food(
            "/$(food)",
            "/PIZZA",
            .opens(0),
            rule: "Values don't count case where patterns don't",
            more: #","caseSensitive":false"#
        ),
        food("/$(none)", "/", .unmatched, rule: "A variable without values takes nothing"),
        food("/$(nobody)", "/x", .unmatched, rule: "An unknown variable takes nothing"),
        food("/$(food", "/$(food", .unmatched, rule: "A variable that is not closed takes nothing"),
        food("/a$b", "/a$b", .opens(0), rule: "$ alone is text"),
        food("/$(alpha)", "/Q", .opens(0), rule: "alpha is a letter"),
        food("/$(alpha)", "/7", .unmatched, rule: "alpha is no digit"),
        food("/$(upper)", "/q", .unmatched, rule: "upper is no small letter"),
        food(
            "/$(upper)",
            "/q",
            .opens(0),
            rule: "upper is any letter where case does not count",
            more: #","caseSensitive":false"#
        ),
        food("/$(lower)", "/Q", .unmatched, rule: "lower is no capital"),
        food("/$(digit)$(digit)", "/42", .opens(0), rule: "digit is one digit"),
        food("/$(digit)", "/seven", .unmatched, rule: "A predefined name stays predefined"),
        food("/$(alnum)", "/-", .unmatched, rule: "alnum is a letter or digit"),
        food("/$(xdigit)$(xdigit)", "/fA", .opens(0), rule: "xdigit has both cases"),
        food("/$(xdigit)", "/g", .unmatched, rule: "xdigit ends at f"),
        food("/$(region)", "/GB", .opens(0), rule: "region is a code of Locale.isoRegionCodes"),
        food("/$(region)", "/UK", .unmatched, rule: "region has GB and not UK (swcutil)"),
        food("/$(region)", "/419", .unmatched, rule: "region has no groups of countries"),
        food("/$(lang)", "/qq", .unmatched, rule: "lang is a code of Locale.isoLanguageCodes"),
    ]

    /// "Supporting associated domains" for the hosts; the other rules are this library's own.
    static let hosts: [LinkVector] = [
        .init("The host must be the domain", "[{}]", "https://www.example.com/", .refused(.otherHost)),
        .init("A domain below is another domain", "[{}]", "https://a.example.com/", .refused(.otherHost)),
        .init("The host does not count case (swcutil)", "[{}]", "HTTPS://EXAMPLE.COM/x", .opens(0)),
        .init("What stands before @ is not the host", "[{}]", "https://example.com@evil.test/", .refused(.otherHost)),
        .init("Associated domains have no port", "[{}]", "https://example.com:8443/", .refused(.port)),
        .init("443 is no other port", "[{}]", "https://example.com:443/", .opens(0)),
        .init("Links are https", "[{}]", "http://example.com/", .refused(.notHTTPS)),
        .init("A custom scheme is no universal link", "[{}]", "holdfast://example.com/", .refused(.notHTTPS)),
        .init("A link has a host", "[{}]", "https:///x", .refused(.noHost)),
        .init("A path alone is no link", "[{}]", "example.com/x", .refused(.notALink)),
    ]
}
