extension LinkVector {
    private static let shop = """
        [{"#":"no_universal_links","exclude":true},{"/":"/buy/*"},{"/":"/help/website/*","exclude":true},\
        {"/":"/help/*","?":{"articleNumber":"????"}}]
        """

    /// Apple, "applinks.Details.Components" and "Supporting associated domains" (whose example `shop` is): the order.
    static let order: [LinkVector] = [
        .init("The first match decides", shop, "/buy/42", .opens(1)),
        .init("exclude keeps a link in the browser", shop, "/buy/42#no_universal_links", .excluded(0)),
        .init("exclude before the general pattern", shop, "/help/website/faq?articleNumber=4815", .excluded(2)),
        .init("All keys of a component must match: they do", shop, "/help/1?articleNumber=4815", .opens(3)),
        .init("All keys of a component must match: the query does not", shop, "/help/1?articleNumber=48159", .unmatched),
        .init("A link that no component takes stays in the browser", shop, "/elsewhere", .unmatched),
        .init(
            "exclude behind the general pattern has no effect",
            #"[{"/":"/a/*"},{"/":"/a/b","exclude":true}]"#,
            "/a/b",
            .opens(0)
        ),
        .init("exclude false is no exclude", #"[{"/":"/a","exclude":false}]"#, "/a", .opens(0)),
        .init("No components take no link", "[]", "/a", .unmatched),
        .init("A key that is none is overlooked (swcutil)", #"[{"/":"/a","future":{"x":1}}]"#, "/a", .opens(0)),
    ]

    private static func app(_ rest: String) -> String { #"[{"appIDs":["ABCDE12345.com.example.app"],\#(rest)}]"# }

    /// Apple, "applinks.Defaults": the more specific value applies.
    static let defaults: [LinkVector] = [
        .init(
            "The domain's defaults count",
            details: app(#""components":[{"/":"/A"}]"#),
            beside: #""defaults":{"caseSensitive":false}"#,
            "/a",
            .opens(0)
        ),
        .init(
            "The app's defaults count",
            details: app(#""defaults":{"percentEncoded":false},"components":[{"/":"/a b"}]"#),
            "/a%20b",
            .opens(0)
        ),
        .init(
            "The app's defaults count before the domain's",
            details: app(#""defaults":{"caseSensitive":true},"components":[{"/":"/A"}]"#),
            beside: #""defaults":{"caseSensitive":false}"#,
            "/a",
            .unmatched
        ),
        .init(
            "The component counts before the app's defaults",
            details: app(#""defaults":{"caseSensitive":true},"components":[{"/":"/A","caseSensitive":false}]"#),
            "/a",
            .opens(0)
        ),
        .init(
            "Defaults can hold a path (swcutil)",
            details: app(##""components":[{"#":"*"}]"##),
            beside: ##""defaults":{"/":"/foo/*"}"##,
            "/bar",
            .unmatched
        ),
        .init(
            "Defaults can hold exclude (swcutil)",
            details: app(##""components":[{"#":"*"}]"##),
            beside: ##""defaults":{"exclude":true}"##,
            "/bar",
            .excluded(0)
        ),
        .init(
            "Defaults can hold a query (swcutil)",
            details: app(##""components":[{"#":"*"}]"##),
            beside: ##""defaults":{"?":{"id":"??"}}"##,
            "/bar?id=7",
            .unmatched
        ),
    ]

    /// Apple, App Search Programming Guide, "Support Universal Links": the format before iOS 13.
    static let oldFormat: [LinkVector] = [
        .init("paths take the path", details: #"[{"appID":"A.b","paths":["/wwdc/news/"]}]"#, "/wwdc/news/", .opens(0)),
        .init("paths overlook query and fragment", details: #"[{"appID":"A.b","paths":["/buy/*"]}]"#, "/buy/1?a=b#c", .opens(0)),
        .init("NOT excludes", details: #"[{"appID":"A.b","paths":["NOT /a/private/*","/a/*"]}]"#, "/a/private/x", .excluded(0)),
        .init(
            "NOT behind the general path has no effect",
            details: #"[{"appID":"A.b","paths":["/a/*","NOT /a/b"]}]"#,
            "/a/b",
            .opens(0)
        ),
        .init("NOT needs its space", details: #"[{"appID":"A.b","paths":["NOT/a","*"]}]"#, "/a", .opens(1)),
        .init("paths count case", details: #"[{"appID":"A.b","paths":["/Buy"]}]"#, "/buy", .unmatched),
        .init("* alone takes all", details: #"[{"appID":"A.b","paths":["*"]}]"#, "/", .opens(0)),
        .init("details can be an object by app (iOS 9.0)", details: #"{"A.b":{"paths":["/x"]}}"#, "/x", .opens(0)),
        .init(
            "components count before paths in one entry",
            details: #"[{"appID":"A.b","paths":["*"],"components":[{"/":"/a"}]}]"#,
            "/b",
            .unmatched
        ),
    ]
}
