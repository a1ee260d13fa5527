import AccountCore
import Testing

@testable import AccountRoutes

@Suite struct RequestDeviceTests {
    @Test(
        "Derives one of a few families from a User-Agent",
        arguments: [
            ("Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0", "Firefox on Linux"),
            (
                "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML) Chrome/131.0 Safari/537.36",
                "Chrome on Windows"
            ),
            ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/131.0 Safari/537.36 Edg/131.0", "Edge on Windows"),
            (
                "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1",
                "Safari on iPhone"
            ),
            ("Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X) AppleWebKit/605.1 CriOS/130 Safari/604.1", "Chrome on iPad"),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
                "Safari on Mac"
            ),
            (
                "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 Chrome/131.0 Mobile Safari/537.36",
                "Chrome on Android"
            ),
            ("Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 Chrome/131.0 Safari/537.36", "Chrome on ChromeOS"),
            ("Notes/12 (iPhone; iOS 18.0)", "iPhone"), ("Notes/1 CFNetwork/1568 Darwin/24.0.0", "Apple device"),
            ("okhttp/4.12.0", "Android"), ("curl/8.5.0", "Other device"), ("Mozilla/5.0", "Other device"),
        ]
    )
    func family(agent: String, family: String) {
        #expect(ClientDevice.family(agent) == family)
    }

    @Test("A request without a User-Agent has no family", arguments: ["", "  "])
    func none(agent: String) {
        #expect(ClientDevice.family(agent) == nil)
    }

    @Test(
        "Removes characters from a name that change the text around it",
        arguments: [
            ("  Ana’s iPhone ", "Ana’s iPhone"), ("a\u{202E}b\u{2066}c\u{200F}d", "abcd"), ("a\u{0}b\u{1B}[31mc\r\n", "ab[31mc"),
            ("\u{202E}\u{200B}", nil), ("", nil), ("👩‍💻", "👩‍💻"),
            (String(repeating: "é", count: 150), String(repeating: "é", count: 100)),
        ]
    )
    func name(field: String, name: String?) {
        #expect(ClientDevice.name(field) == name)
    }
}
