public import AccountContract
public import ErrorContract
import Timekeeping

/// The part of a server's configuration that the description of its API shows.
public struct APISettings: Sendable {
    /// An active rate limit.
    public struct Limit: Hashable, Sendable {
        /// The limit.
        public let limit: AccountLimit
        /// The number of requests that are admitted in a window.
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
    /// The configured address of the API, without a trailing slash; `nil` if it is the address of the document.
    public var baseURL: String?
    /// The default format of error bodies.
    public var errorForm: ErrorForm = .standard
    /// The languages of the texts.
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

    private var span: String {
        let seconds = window.wholeSecondsRoundedUp
        let (count, unit) =
            seconds.isMultiple(of: 3_600)
            ? (seconds / 3_600, "hour") : seconds.isMultiple(of: 60) ? (seconds / 60, "minute") : (seconds, "second")
        return count == 1 ? "1 \(unit)" : "\(count) \(unit)s"
    }
}
