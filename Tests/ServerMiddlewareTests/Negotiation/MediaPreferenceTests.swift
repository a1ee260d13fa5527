import ServerMiddleware
import Testing

@Suite struct MediaPreferenceTests {
    @Test(
        "The most specific matching range decides the quality of a type",
        arguments: [
            (nil, 1, false), ("", 1, false), ("  ", 1, false), ("*/*", 1, false), ("application/*", 1, false),
            ("application/json", 1, true), ("APPLICATION/JSON", 1, true), ("application/json;q=0.5", 0.5, true),
            ("application/json; q=0.5", 0.5, true), ("application/json ;Q=0.25 ", 0.25, true),
            ("application/json;charset=utf-8;q=0.1", 0.1, true), ("text/html", 0, false), ("text/*", 0, false),
            ("application/json;q=0", 0, false), ("application/json;q=0, */*", 0, false), ("application/json;q=0.0", 0, false),
            ("*/*, application/*;q=0.2", 0.2, false), ("application/*;q=0.2, application/json;q=0.7, */*", 0.7, true),
            ("*/*;q=0.3", 0.3, false), ("application/json;q=0.2, application/json;q=0.9", 0.9, true),
            (#"application/json;profile="a,b;q=0";q=0.4"#, 0.4, true), (#"text/x;a="\",application/json""#, 0, false),
            ("application/jsonx", 0, false), ("xapplication/json", 0, false), ("application/json+x", 0, false),
        ] as [(String?, Double, Bool)]
    )
    func quality(header: String?, quality: Double, isNamed: Bool) {
        let preference = MediaPreference(accept: header)
        #expect(preference.quality(of: "application/json") == quality)
        #expect(preference.names("application/json") == isNamed)
    }

    @Test(
        "Ignores invalid media ranges",
        arguments: [
            "application", "/", "/json", "application/", "*/json", ",", ";", "\"", "application/json;q=2",
            "application/json;q=-1",
            "application/json;q=x", "application/json;q=nan", "application/ json", "application/json/x", "\u{0}",
            "application/json;q=", String(repeating: "text/html,", count: 32) + "application/json",
        ]
    )
    func garbage(header: String) {
        #expect(MediaPreference(accept: header).quality(of: "application/json") == 0)
        #expect(!MediaPreference(accept: header).names("application/json"))
    }

    @Test("Reads a very long header quickly, and an invalid type is not accepted")
    func hostile() {
        let header = String(repeating: "\"\\", count: 40_000)
        #expect(MediaPreference(accept: header).quality(of: "application/json") == 0)
        #expect(MediaPreference(accept: "*/*").quality(of: "json") == 0)
    }
}
