public import AccountContract
public import ErrorContract
import Timekeeping

/// The part of a server's configuration that the description of its API shows.
///
/// ```swift
/// var settings = APISettings(appName: "Notes", version: "1.0.0")
/// settings.baseURL = "https://accounts.example.com"
/// settings.limits = [APISettings.Limit(.loginIP, quota: 30, window: .seconds(60))]
/// let description = APIDescription(settings: settings)
/// ```
///
/// The defaults are those of a server in its default configuration without active limits. Values with secrets are no part of it, so the
/// description can be public.
public struct APISettings: Sendable {
    /// An active rate limit, as the document states it: "At most 3 in 1 hour".
    public struct Limit: Hashable, Sendable {
        /// The limit, which names the operations that it counts.
        public let limit: AccountLimit
        /// The number of requests that are admitted in a window, at least 1.
        public let quota: Int
        /// The length of the window. Texts round it up to whole seconds.
        public let window: Duration

        /// Creates a limit.
        /// - Parameters:
        ///   - limit: The limit.
        ///   - quota: The number of requests that are admitted in a window.
        ///   - window: The length of the window.
        public init(_ limit: AccountLimit, quota: Int, window: Duration) {
            self.limit = limit
            self.quota = quota
            self.window = window
        }
    }

    /// The app's name, which is part of the title.
    public var appName: String
    /// The server's version, which becomes the version of the document.
    public var version: String
    /// The configured address of the API, without a trailing slash; `nil` if it is the address of the document.
    public var baseURL: String?
    /// The default format of error bodies. A client can request problem details (RFC 9457) by `Accept`.
    public var errorForm: ErrorForm = .standard
    /// The languages of the texts, the default language first.
    public var languages: [Language] = Language.supported
    /// The shortest new password, in characters. The longest has 256.
    public var minimumPasswordLength = 8
    /// Whether a new password needs both letters and digits.
    public var needsLettersAndDigits = false
    /// The limits in force; none by default. Operations without an active limit don't document `RateLimit` headers.
    public var limits: [Limit] = []
    /// Whether the file for Apple's universal links is served.
    public var servesAppleAssociation = false
    /// Whether the file for Android app links is served.
    public var servesAndroidLinks = false
    /// Whether the server serves readiness at the address of the API.
    public var servesReadiness = true
    /// Whether the server serves metrics for Prometheus.
    public var servesMetrics = false
    /// Whether the server serves the routes for development.
    public var servesDevelopmentRoutes = false

    /// Creates settings with the defaults of a server.
    public init(appName: String, version: String) {
        self.appName = appName
        self.version = version
    }

    /// The path that the configured address adds before the routes, such as `/app`; empty if there is none.
    package var basePath: String {
        guard let rest = baseURL?.split(separator: "://", maxSplits: 1).last, let slash = rest.firstIndex(of: "/") else {
            return ""
        }
        return String(rest[slash...])
    }
}

extension APISettings.Limit {
    /// A sentence that describes the limit.
    package var words: Prose { "At most \(amount) (`\(limit.rawValue)`)." }

    /// The quota and the window, such as `3 in 1 hour`.
    package var amount: String { "\(quota) in \(span)" }

    /// The window in the largest unit that divides it, such as `1 hour`, `90 seconds`.
    private var span: String {
        let seconds = window.wholeSecondsRoundedUp
        let (count, unit) =
            seconds.isMultiple(of: 3_600)
            ? (seconds / 3_600, "hour") : seconds.isMultiple(of: 60) ? (seconds / 60, "minute") : (seconds, "second")
        return count == 1 ? "1 \(unit)" : "\(count) \(unit)s"
    }
}
