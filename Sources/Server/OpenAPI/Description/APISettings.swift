public import AccountContract
public import ErrorContract
import Timekeeping

/// What a server was configured with, as far as the description of its API shows it.
public struct APISettings: Sendable {
    /// A rate limit that is in force.
    public struct Limit: Hashable, Sendable {
        /// The limit.
        public let limit: AccountLimit
        /// How many requests are admitted in a window.
        public let quota: Int
        /// The length of the window.
        public let window: Duration

        /// Creates a limit.
        public init(_ limit: AccountLimit, quota: Int, window: Duration) {
            self.limit = limit
            self.quota = quota
            self.window = window
        }
    }

    /// The app's name.
    public var appName: String
    /// The server's version.
    public var version: String
    /// The configured address that requests go to, without a slash at its end; `nil` if it is where the document came from.
    public var baseURL: String?
    /// The shape of error bodies where the route has no own one.
    public var errorForm: ErrorForm = .standard
    /// The languages that texts are in.
    public var languages: [Language] = Language.supported
    /// The shortest new password, in characters.
    public var minimumPasswordLength = 8
    /// Whether a new password needs both letters and digits.
    public var needsLettersAndDigits = false
    /// The limits in force.
    public var limits: [Limit] = []
    /// Whether the file for Apple's universal links is served.
    public var servesAppleAssociation = false
    /// Whether the file for Android app links is served.
    public var servesAndroidLinks = false
    /// Whether readiness is served beside the API.
    public var servesReadiness = true
    /// Whether the figures for Prometheus are served.
    public var servesMetrics = false
    /// Whether the routes of development are served.
    public var servesDevelopmentRoutes = false

    /// Creates settings with the defaults of a server.
    public init(appName: String, version: String) {
        self.appName = appName
        self.version = version
    }

    /// The path that the configured address adds before the routes, such as `/app`; empty if it adds none.
    package var basePath: String {
        guard let rest = baseURL?.split(separator: "://", maxSplits: 1).last, let slash = rest.firstIndex(of: "/") else {
            return ""
        }
        return String(rest[slash...])
    }
}

extension APISettings.Limit {
    /// The limit in a sentence.
    package var words: Prose { "At most \(amount) (`\(limit.rawValue)`)." }

    /// The quota and the window, such as `3 in 1 hour`.
    package var amount: String { "\(quota) in \(span)" }

    private var span: String {
        let seconds = window.wholeSecondsRoundedUp
        let (count, unit) =
            seconds.isMultiple(of: 3_600)
            ? (seconds / 3_600, "hour") : seconds.isMultiple(of: 60) ? (seconds / 60, "minute") : (seconds, "second")
        return count == 1 ? "1 \(unit)" : "\(count) \(unit)s"
    }
}
