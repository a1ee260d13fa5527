extension LinkVector {
    /// Apple, "applinks.Details.Components.Query"; WWDC 2019, session 717; `swcutil` on macOS 27.
    static let queries: [LinkVector] = [
        .init("A string takes the whole query", #"[{"?":"a=1"}]"#, "/x?a=1", .opens(0)),
        .init("A string takes nothing more", #"[{"?":"a=1"}]"#, "/x?a=1&b=2", .unmatched),
        .init("A string * takes a missing query", #"[{"?":"*"}]"#, "/x", .opens(0)),
        .init("A string ?* needs a query", #"[{"?":"?*"}]"#, "/x", .unmatched),
        .init("A dictionary looks at its items only", #"[{"?":{"a":"1"}}]"#, "/x?z=0&a=1&b=2", .opens(0)),
        .init("All items of a dictionary must match", #"[{"?":{"a":"1","b":"2"}}]"#, "/x?a=1&b=3", .unmatched),
        .init("The order of items does not count", #"[{"?":{"a":"1","b":"2"}}]"#, "/x?b=2&a=1", .opens(0)),
        .init("Values are patterns", #"[{"?":{"articleNumber":"????"}}]"#, "/x?articleNumber=4815", .opens(0)),
        .init("A value is covered whole", #"[{"?":{"articleNumber":"????"}}]"#, "/x?articleNumber=481", .unmatched),
        .init("Names are no patterns", #"[{"?":{"a*":"1"}}]"#, "/x?ab=1", .unmatched),
        .init("A missing item is empty, so * takes it", #"[{"?":{"b":"*"}}]"#, "/x?a=1", .opens(0)),
        .init("A missing item is empty, so an empty pattern takes it", #"[{"?":{"b":""}}]"#, "/x", .opens(0)),
        .init("A missing item is empty, so ?* does not take it", #"[{"?":{"b":"?*"}}]"#, "/x?a=1", .unmatched),
        .init("An item without value is empty", #"[{"?":{"flag":""}}]"#, "/x?flag", .opens(0)),
        .init("An item with = and no value is empty", #"[{"?":{"flag":"?*"}}]"#, "/x?flag=", .unmatched),
        .init("All instances of an item must match: the last does not", #"[{"?":{"id":"42"}}]"#, "/x?id=42&id=7", .unmatched),
        .init("All instances of an item must match: the first does not", #"[{"?":{"id":"42"}}]"#, "/x?id=7&id=42", .unmatched),
        .init("All instances of an item must match: they do", #"[{"?":{"id":"7"}}]"#, "/x?id=7&id=7", .opens(0)),
        .init("All instances of an item must match: ?* takes each", #"[{"?":{"id":"?*"}}]"#, "/x?id=7&id=42", .opens(0)),
        .init("An = in a value belongs to the value", #"[{"?":{"a":"b=c"}}]"#, "/x?a=b=c", .opens(0)),
        .init("A value that is no string voids the dictionary (swcutil)", #"[{"?":{"a":"1","flag":true}}]"#, "/x?a=2", .opens(0)),
        .init(
            "A token must not be empty",
            #"[{"/":"/reset-password","?":{"token":"?*"}}]"#,
            "/reset-password?token=",
            .unmatched
        ),
    ]

    /// Apple, "applinks.Details.Components": the key `#`.
    static let fragments: [LinkVector] = [
        .init("A fragment that is not named is *", #"[{"/":"/x"}]"#, "/x#anything", .opens(0)),
        .init("* takes a missing fragment", ##"[{"#":"*"}]"##, "/x", .opens(0)),
        .init("?* needs a fragment", ##"[{"#":"?*"}]"##, "/x", .unmatched),
        .init("?* needs more than the sign", ##"[{"#":"?*"}]"##, "/x#", .unmatched),
        .init("?* takes a fragment", ##"[{"#":"?*"}]"##, "/x#t", .opens(0)),
        .init("An empty pattern takes a missing fragment", ##"[{"#":""}]"##, "/x", .opens(0)),
        .init("What follows # is no query", #"[{"?":{"token":"?*"}}]"#, "/x#token=1", .unmatched),
        .init("A ? behind # belongs to the fragment", ##"[{"#":"a?b"}]"##, "/x#a?b", .opens(0)),
    ]
}
