extension LinkVector {
    /// Apple, "applinks.Details.Components": wildcards. Slashes at the ends: `swcutil` on macOS 27.
    static let paths: [LinkVector] = [
        .init("A pattern without wildcards takes just its text", #"[{"/":"/buy"}]"#, "/buy", .opens(0)),
        .init("A pattern covers the whole path, not its beginning", #"[{"/":"/buy"}]"#, "/buyer", .unmatched),
        .init("* takes zero characters", #"[{"/":"/buy*"}]"#, "/buy", .opens(0)),
        .init("* takes many characters, slashes too", #"[{"/":"/buy/*"}]"#, "/buy/42/x", .opens(0)),
        .init("* in the middle gives back what the rest needs", #"[{"/":"/a*b*c"}]"#, "/aXbYbZc", .opens(0)),
        .init("* does not make up for missing text", #"[{"/":"/a/*/c"}]"#, "/a/c", .unmatched),
        .init("? takes exactly one character", #"[{"/":"/id/????"}]"#, "/id/4815", .opens(0)),
        .init("? does not take fewer", #"[{"/":"/id/????"}]"#, "/id/481", .unmatched),
        .init("? does not take more", #"[{"/":"/id/????"}]"#, "/id/48151", .unmatched),
        .init("A slash at the end is not counted by ?", #"[{"/":"/id/????"}]"#, "/id/481/", .unmatched),
        .init("?* takes one character", #"[{"/":"/a/?*"}]"#, "/a/b", .opens(0)),
        .init("?* does not take none", #"[{"/":"/a/?*"}]"#, "/a/", .unmatched),
        .init("A path that is not named is *", ##"[{"#":"promo"}]"##, "/a/b?c=d#promo", .opens(0)),
        .init("A component without keys takes every link", "[{}]", "/any?q#f", .opens(0)),
        .init("/* takes the path above it (swcutil)", #"[{"/":"/buy/*"}]"#, "/buy", .opens(0)),
        .init("/* does not take a sibling", #"[{"/":"/buy/*"}]"#, "/buyer", .unmatched),
        .init("A slash at the end of the link is not significant (swcutil)", #"[{"/":"/buy"}]"#, "/buy/", .opens(0)),
        .init("Several slashes at the end are not significant (swcutil)", #"[{"/":"/buy/*"}]"#, "/buy//", .opens(0)),
        .init("A slash at the end of the pattern is not significant (swcutil)", #"[{"/":"/a/b/"}]"#, "/a/b", .opens(0)),
        .init(
            "The first slash of a pattern can be left out (Apple's example abc)",
            ##"[{"/":"abc","?":"def","#":"*"}]"##,
            "/abc?def",
            .opens(0)
        ),
        .init("A pattern without its first slash still covers the whole path", #"[{"/":"abc"}]"#, "/xabc", .unmatched),
        .init("A pattern can begin with *", #"[{"/":"*abc"}]"#, "/xabc", .opens(0)),
        .init("Several slashes at the beginning of a pattern are one (swcutil)", #"[{"/":"//abc"}]"#, "/abc", .opens(0)),
        .init("An empty path is /", #"[{"/":"/"}]"#, "https://example.com", .opens(0)),
        .init("/ is only the root", #"[{"/":"/"}]"#, "/x", .unmatched),
    ]

    /// Apple, "applinks.Details.Components": `caseSensitive`, `percentEncoded`; WWDC 2020, session 10098.
    static let characters: [LinkVector] = [
        .init("Case counts unless said otherwise", #"[{"/":"/Help"}]"#, "/help", .unmatched),
        .init(
            "caseSensitive false: case does not count in the path",
            #"[{"/":"/Help","caseSensitive":false}]"#,
            "/hELP",
            .opens(0)
        ),
        .init("caseSensitive false: nor in the query", #"[{"?":{"Id":"AB"},"caseSensitive":false}]"#, "/?iD=ab", .opens(0)),
        .init("caseSensitive false: nor in the fragment", ##"[{"#":"Top","caseSensitive":false}]"##, "/#tOP", .opens(0)),
        .init(
            "caseSensitive false: letters beyond ASCII",
            #"[{"/":"/É","caseSensitive":false,"percentEncoded":false}]"#,
            "/%C3%A9",
            .opens(0)
        ),
        .init("Patterns see the link percent-encoded", #"[{"/":"/a%20b"}]"#, "/a%20b", .opens(0)),
        .init("A plain pattern does not take an encoded link", #"[{"/":"/a b"}]"#, "/a%20b", .unmatched),
        .init("percentEncoded false: the link is decoded", #"[{"/":"/a b","percentEncoded":false}]"#, "/a%20b", .opens(0)),
        .init(
            "percentEncoded false: the pattern is not (swcutil)",
            #"[{"/":"/a%20b","percentEncoded":false}]"#,
            "/a%20b",
            .unmatched
        ),
        .init(
            "percentEncoded false: letters beyond ASCII",
            #"[{"/":"/café/*","percentEncoded":false}]"#,
            "/caf%C3%A9/menu",
            .opens(0)
        ),
        .init(
            "percentEncoded false: ? is one letter, not one byte",
            #"[{"/":"/?","percentEncoded":false}]"#,
            "/%C3%A9",
            .opens(0)
        ),
        .init("percentEncoded true: a letter is all its bytes", #"[{"/":"/??????"}]"#, "/%C3%A9", .opens(0)),
        .init("%2F is no slash", #"[{"/":"/a/b"}]"#, "/a%2Fb", .unmatched),
        .init("percentEncoded false: %2F is a slash (swcutil)", #"[{"/":"/a/b","percentEncoded":false}]"#, "/a%2Fb", .opens(0)),
        .init("The case of escapes counts (swcutil)", #"[{"/":"/%C3%A9"}]"#, "/%c3%a9", .unmatched),
        .init(
            "percentEncoded false: the items of the query too",
            #"[{"?":{"name":"a b"},"percentEncoded":false}]"#,
            "/?name=a%20b",
            .opens(0)
        ),
        .init("What is no escape stays", #"[{"/":"/100%zz","percentEncoded":false}]"#, "/100%zz", .opens(0)),
        .init("A link with plain letters is read as encoded", #"[{"/":"/caf%C3%A9"}]"#, "/café", .opens(0)),
    ]
}
