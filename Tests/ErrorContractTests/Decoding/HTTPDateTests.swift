import ErrorContract
import Foundation
import Testing
import Timekeeping

@Suite struct HTTPDateTests {
    /// 2025-11-04T10:30:00Z
    private static let now = Date(timeIntervalSince1970: 1_762_252_200)

    @Test(
        "Reads a date in each of its three forms",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Wed, 21 Oct 2015 07:28:00 GMT", 1_445_412_480),
            ("Wed Oct 21 07:28:00 2015", 1_445_412_480), ("Thu, 29 Feb 2024 00:00:00 GMT", 1_709_164_800),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Tue, 31 Dec 2024 23:59:60 GMT", 1_735_689_600),
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
        ]
    )
    func forms(text: String, seconds: Int) {
        #expect(HTTPDate.parse(text, now: Self.now) == Date(timeIntervalSince1970: Double(seconds)))
    }

    @Test(
        "A two-digit year lies at most 50 years ahead",
        arguments: [("Tuesday, 01-Jan-75 00:00:00 GMT", 3_313_526_400), ("Thursday, 01-Jan-76 00:00:00 GMT", 189_302_400)]
    )
    func century(text: String, seconds: Int) {
        #expect(HTTPDate.parse(text, now: Self.now) == Date(timeIntervalSince1970: Double(seconds)))
    }

    @Test(
        "Any other text is not a date",
        arguments: [
            "", " ", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 +0000",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Wed, 29 Feb 2023 08:49:37 GMT", "Mon, 29 Feb 2100 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 19944 08:49:37 GMT",
            "Sun, 06 Nov 199 08:49:37 GMT", "Xyz, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z", "784111777",
            "Sun, -6 Nov 1994 -8:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT" + String(repeating: " ", count: 64),
        ]
    )
    func refused(text: String) {
        #expect(HTTPDate.parse(text, now: Self.now) == nil)
    }
}
