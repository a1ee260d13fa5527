public import AccountContract
public import ErrorContract
import Timekeeping

/// The part of a server's configuration that the description of its API depends on.
///
/// ```swift
/// var settings = APISettings(appName: "Notes", version: "1.0.0")
/// settings.baseURL = "https://accounts.example.com"
/// settings.limits = [APISettings.Limit(.loginIP, quota: 30, window: .seconds(60))]
/// let description = APIDescription(settings: settings)
/// ```
///
/// The defaults match the default configuration of a server, with one exception: no rate limit is active. The settings contain no secrets,
/// so the description can be public.
///
/// These settings only describe a server, and don't configure it. If the configuration of the server differs from these settings, the
/// server can return responses that the description doesn't list.
public struct APISettings: Sendable {
    /// An active rate limit. The document describes it in words, such as "At most 3 in 1 hour".
    public struct Limit: Hashable, Sendable {
        /// The name of the limit. It determines the operations whose requests the server counts.
        public let limit: AccountLimit
        /// The number of requests that the server admits in a window, at least 1.
        public let quota: Int
        /// The length of the window, greater than zero. Texts round it up to whole seconds.
        public let window: Duration

        /// Creates a limit. The values are not validated.
        /// - Parameters:
        ///   - limit: The name of the limit. It determines the operations whose requests the server counts.
        ///   - quota: The number of requests that the server admits in a window, at least 1.
        ///   - window: The length of the window, greater than zero.
        public init(_ limit: AccountLimit, quota: Int, window: Duration) {
            self.limit = limit
            self.quota = quota
            self.window = window
        }
    }

    /// The way in which clients can register.
    public enum Registration: Hashable, Sendable, CaseIterable {
        /// A registration creates an account immediately.
        case open
        /// A registration sends an email with a link, which creates the account.
        case blind
        /// Every registration is refused.
        case closed
    }

    /// The app's name, which is part of the title.
    public var appName: String
    /// The server's version, which becomes the version of the document.
    public var version: String
    /// The configured address of the API, without a trailing slash, such as `https://accounts.example.com/app`.
    ///
    /// The address becomes the only server in the document, and the `type` of problem details begins with it. If the address is `nil`,
    /// clients use the address from which they loaded the document.
    public var baseURL: String?
    /// The default format of error bodies. A client can request problem details (RFC 9457) with `Accept: application/problem+json` instead.
    public var errorForm: ErrorForm = .standard
    /// The languages of the texts, with the default language first. `Content-Language` has one of these values.
    public var languages: [Language] = Language.supported
    /// The smallest length of a new password, in characters. In the document, the largest length is always 256 characters.
    public var minimumPasswordLength = 8
    /// Whether a new password needs both letters and digits.
    public var needsLettersAndDigits = false
    /// The active limits. By default there are none. The description of an operation without an active limit doesn't contain the headers
    /// `RateLimit` and `RateLimit-Policy`.
    public var limits: [Limit] = []
    /// The way in which clients can register. It determines the responses and limits of the registration.
    public var registration = Registration.open
    /// Whether the server serves `/.well-known/apple-app-site-association`, the file for Apple's universal links.
    public var servesAppleAssociation = false
    /// Whether the server serves `/.well-known/assetlinks.json`, the file for Android app links.
    public var servesAndroidLinks = false
    /// Whether the routes are a part of an app, in the router of this app. Then the description contains neither the start page, nor the
    /// routes of health and metrics, nor the error lab, because the router of the app serves only the account routes and the mailbox.
    public var isPartOfApp = false
    /// Whether the server serves `/health/ready` at the address of the API. Set it to `false` if the server serves readiness only at
    /// another address.
    public var servesReadiness = true
    /// Whether the server serves `/metrics` in the text format of Prometheus.
    public var servesMetrics = false
    /// Whether the server serves the routes for development, such as `/dev/mailbox`. A server serves them only on a loopback address.
    public var servesDevelopmentRoutes = false

    /// Creates settings with the defaults of a server. Change the other properties afterwards.
    /// - Parameters:
    ///   - appName: The app's name, which begins the title of the document.
    ///   - version: The server's version, such as `1.0.0`.
    public init(appName: String, version: String) {
        self.appName = appName
        self.version = version
    }

    /// The path of the configured address, such as `/app`. Empty if the address has no path, or if there is no configured address.
    package var basePath: String {
        guard let rest = baseURL?.split(separator: "://", maxSplits: 1).last, let slash = rest.firstIndex(of: "/") else {
            return ""
        }
        return String(rest[slash...])
    }
}

extension APISettings.Limit {
    /// A sentence that describes the limit, such as "At most 3 in 1 hour (`reset-email`)."
    package var words: Prose { "At most \(amount) (`\(limit.rawValue)`)." }

    /// The quota and the window, such as `3 in 1 hour`.
    package var amount: String { "\(quota) in \(span)" }

    /// The window in the largest unit that divides it without a remainder, such as `1 hour` or `90 seconds`.
    private var span: String {
        let seconds = window.wholeSecondsRoundedUp
        let (count, unit) =
            seconds.isMultiple(of: 3_600)
            ? (seconds / 3_600, "hour") : seconds.isMultiple(of: 60) ? (seconds / 60, "minute") : (seconds, "second")
        return count == 1 ? "1 \(unit)" : "\(count) \(unit)s"
    }
}
