import AccountContract
import AccountCore
import Foundation
import HTTPTypes
import Hummingbird

extension ClientDevice {
    /// Creates the description of the device that sent a request.
    ///
    /// The family is one of a few fixed texts, such as `Firefox on Windows`, and is derived from the `User-Agent`. A new version of a
    /// browser is therefore not a new device. The name is the value of `X-Device-Name`, or the family if this header is missing. All
    /// requests without `User-Agent` have the same family, so an attacker can't prevent the email about a new device by omitting the
    /// header.
    init(of request: Request) {
        let family = request.headers[.userAgent].flatMap(Self.family)
        self.init(
            name: HTTPField.Name(AccountHeader.deviceName).flatMap { request.headers[$0] }.flatMap(Self.name) ?? family,
            family: family ?? "Unknown device"
        )
    }

    /// Returns the first 100 characters of a device name, without characters that could change how the text around the name is displayed;
    /// `nil` if nothing is left.
    static func name(_ field: String) -> String? {
        let visible = field.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: false
            // Of the format characters, only joiners stay, because emoji and several scripts need them. All other format characters are
            // removed, including those that control the writing direction.
            case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
            default: true
            }
        }
        let text = String(String.UnicodeScalarView(visible)).trimmingCharacters(in: .whitespaces)
        let short = String(String.UnicodeScalarView(text.unicodeScalars.prefix(100))).trimmingCharacters(in: .whitespaces)
        return short.isEmpty ? nil : short
    }

    /// Returns the family of a `User-Agent`: the operating system. If the client is a browser, the name of the browser comes before it.
    static func family(_ agent: String) -> String? {
        let agent = agent.prefix(512)
        guard agent.contains(where: { !$0.isWhitespace }) else { return nil }
        let system = systems.first { agent.contains($0.mark) }?.name
        guard agent.hasPrefix("Mozilla/"), let browser = browsers.first(where: { agent.contains($0.mark) })?.name else {
            return system ?? "Other device"
        }
        return system.map { "\(browser) on \($0)" } ?? browser
    }

    /// The texts by which an operating system is recognized, the more specific texts first. For example, the `User-Agent` of Android also
    /// contains `Linux`.
    private static let systems: [(mark: String, name: String)] = [
        ("iPhone", "iPhone"), ("iPod", "iPhone"), ("iPad", "iPad"), ("Android", "Android"), ("okhttp/", "Android"),
        ("Dalvik/", "Android"), ("Windows", "Windows"), ("CrOS", "ChromeOS"), ("Macintosh", "Mac"), ("Mac OS", "Mac"),
        ("macOS", "Mac"), ("CFNetwork", "Apple device"), ("Darwin", "Apple device"), ("Linux", "Linux"),
    ]
    /// The texts by which a browser is recognized, the more specific texts first. For example, the `User-Agent` of most browsers also
    /// contains `Chrome` and `Safari`.
    private static let browsers: [(mark: String, name: String)] = [
        ("Edg/", "Edge"), ("EdgA/", "Edge"), ("EdgiOS/", "Edge"), ("OPR/", "Opera"), ("SamsungBrowser/", "Samsung Internet"),
        ("Firefox/", "Firefox"), ("FxiOS/", "Firefox"), ("Chrome/", "Chrome"), ("CriOS/", "Chrome"), ("Safari/", "Safari"),
    ]
}
