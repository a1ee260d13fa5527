public import AccountContract
public import AccountCore
package import AccountRoutes
public import Configuration
public import ErrorContract
public import Foundation
package import Logging
package import Observability
public import Pages
public import ServerMiddleware
import Synchronization

/// The configuration of an account server, from defaults, environment variables, or properties that an app sets.
///
/// ```swift
/// var configuration = try AccountServerConfiguration.environment(dataFolder: URL(filePath: "data"))
/// configuration.appName = "Notes"
/// ```
/// `holdfast serve --help` lists the environment variables.
///
/// The server reads its settings when it is created. Later, only the rate limits can be changed, with `AccountServer.change(to:)`. Secrets
/// are ``HiddenText``, so a description or dump of the configuration doesn't contain them.
///
/// If settings from the environment are invalid, one error reports all problems. An app can also set all properties in code. Values that
/// are set in code are not validated.
public struct AccountServerConfiguration: Sendable {
    /// The purpose of the server.
    public enum Environment: Sendable {
        /// Serves users. Some settings are required, such as the https address of reset links.
        case production
        /// Serves developers: the pages below `/dev` are served on a loopback address. Reset links need no https.
        case development
    }

    /// The name or address that the server listens on, without brackets. Only a loopback address serves pages for developers.
    public var host: String
    /// The port that the server listens on; 0 for any free port.
    ///
    /// The default is 8080.
    public var port: Int
    /// The folder of the database, the local mailbox and the secret.
    public var dataFolder: URL
    /// Whether other servers on this machine can use the data folder at the same time. All of these servers must set `true`, and each of
    /// them counts the rate limits separately. The default is `false`: a second server on the folder can't be created.
    public var sharesDataFolder = false
    /// The database of accounts: by default, a file in the data folder. `DATABASE_URL`.
    public var database = AccountDatabase.sqlite
    /// The Valkey server through which several account servers share the usage of rate limits; `nil` if each server counts separately.
    public var sharedLimits: SharedLimitSettings?
    /// The servers that share the usage of rate limits: by default, all servers of the deployment.
    public var limitScope = RateLimitScope.deployment
    /// The purpose of the server; production by default. `ENVIRONMENT`.
    public var environment: Environment = .production
    /// The name of the app in emails and pages. `APP_NAME`.
    public var appName = "Holdfast"
    /// The sender of emails, as `Name <address>` or an address. `EMAIL_FROM` or `DEFAULT_FROM_EMAIL`.
    public var emailFrom = "Holdfast <no-reply@localhost>"
    /// The delivery of emails. The default is the local mailbox, which sends nothing. `EMAIL_HOST` enables SMTP.
    public var mail = MailSettings.mailbox
    /// Email templates that replace the standard ones.
    public var mailTemplates: MailTemplateFolder?
    /// The language for clients that accept none of the supported languages. `DEFAULT_LOCALE`.
    public var defaultLanguage: Language = .english
    /// The format of error responses. Clients can request problem details by `Accept`. `ERROR_FORMAT`.
    public var errorForm: ErrorForm = .standard
    /// The address with which links in emails begin. If it is `nil`, links begin with the address on which the server listens. Use `nil`
    /// only in development.
    public var resetBaseURL: URL?
    /// The part of a link that contains its token: the query by default. The fragment keeps tokens out of access logs of proxies, but needs
    /// JavaScript. `RESET_LINK_STYLE`.
    public var resetLinkStyle: ResetLink.Style = .query
    /// The issuer and the audience of access tokens.
    public var tokens = TokenSettings()
    /// The apps that open universal links, on Apple's systems and on Android.
    public var associatedApps = AssociatedApps()
    /// The custom scheme that opens the app, such as `notes`; `nil` if there is none. `APP_LINK_SCHEME`.
    public var appScheme: String?
    /// The subject of reset emails; `nil` for the standard one. `PASSWORD_RESET_SUBJECT`.
    public var resetSubject: String?
    /// The preview text of reset emails; `nil` for the standard one. `PASSWORD_RESET_PREVIEW`.
    public var resetPreview: String?
    /// The lifetime of reset links, one hour by default, and the number of valid links per account, three by default.
    public var recoveryRules = RecoveryRules()
    /// The passwords that are accepted: at least 8 characters by default.
    public var passwordPolicy = PasswordPolicy()
    /// The registration of accounts, the verification of their addresses, and their removal.
    public var accountRules = AccountRules()
    /// The rate limits, and the rule that identifies clients.
    public var limits = LimitSettings()
    /// The range of the pause between two batches of emails.
    package var mailPause: ClosedRange<Duration> = .milliseconds(200)...(.seconds(2))
    /// The longest time for the handling of a request; 30 seconds by default. After this time, the response is 504 `SERVER_TIMEOUT`.
    public var requestDeadline = RequestDeadline(.seconds(30))
    /// The largest number of requests in flight. The server refuses further requests.
    ///
    /// By default, the server processes at most 512 requests at the same time, and 64 further requests can wait.
    public var load = LoadSettings()
    /// The time between the signal to shut down and the end of listening. During this time, the server reports that it is not ready.
    package var shutdownDelay = Duration.zero
    /// The largest number of open connections, and their timeouts.
    package var connections = ConnectionLimits(perClient: 128)
    /// The address that serves `/metrics` and `/health/ready`; `nil` if the public address serves them.
    package var ops: OpsAddress?
    /// The lifetime of idempotency keys, and the largest size of their store.
    public var idempotency = IdempotencySettings()
    /// The certificate of the server; `nil` if a proxy terminates TLS.
    package var tls: TLSSettings?
    /// The limits for request bodies: their size, and the time within which they must arrive.
    public var reader = RequestReader()
    /// The name of the installation. If it is set, the server refuses a database with another name. Each database has a random name.
    package var installation: String?
    /// The secret that replaces the secret in the data folder. It must have at least 32 characters. A text with the prefix `base64:` is an
    /// encoded key of at least 32 bytes, such as the secret of a data folder.
    public var secret: HiddenText?
    /// The former secret, which ``secret`` replaces. Keep this setting for at least 22 minutes, until the access tokens that the former key
    /// signed have expired. With PostgreSQL, also wait until the server logs `All accounts have keys of the present secret`.
    public var previousSecret: HiddenText?
    /// The bearer token that `/metrics` requires.
    package var metricsToken: HiddenText?
    /// The lowest level that is logged.
    package var logLevel: Logger.Level = .info
    /// The format of log lines.
    package var logFormat = LogFormat.text
    /// The names in `.env` that are not settings, such as misspelled names.
    package private(set) var unknownNames: [String] = []

    /// Creates a configuration with the defaults, for production.
    /// - Parameters:
    ///   - dataFolder: The folder of the database, the local mailbox and the secret; created if it is missing.
    ///   - baseURL: The address with which links in emails begin, such as `https://accounts.example.com`.
    public init(dataFolder: URL, baseURL: URL? = nil) {
        self.init(port: 8080, dataFolder: dataFolder)
        resetBaseURL = baseURL
    }

    /// Creates a configuration with the defaults.
    /// - Parameters:
    ///   - host: The name or address that the server listens on.
    ///   - port: The port; 0 for any free port.
    ///   - dataFolder: The folder of the database, the local mailbox and the secret.
    package init(host: String = "127.0.0.1", port: Int, dataFolder: URL) {
        self.host = host
        self.port = port
        self.dataFolder = dataFolder
    }

    /// Whether the server is only reachable from this machine.
    package var isLoopback: Bool { RequestHost.isLoopback(host) }

    /// The clients that may read `/metrics`. With `nil`, the route doesn't exist.
    package var metricsAccess: MetricsAccess? {
        metricsToken.map { .bearer($0.text) } ?? (offersDevelopmentPages || ops != nil ? .loopback : nil)
    }

    /// Whether the server serves the pages below `/dev`.
    package var offersDevelopmentPages: Bool { environment == .development && isLoopback }
}

extension AccountServerConfiguration {
    /// Reads the environment variables of the process and, for unset ones, the file `.env` in the working folder.
    /// - Parameter dataFolder: The folder of the database, the local mailbox and the secret.
    /// - Throws: ``InvalidConfiguration`` with all problems.
    public static func environment(dataFolder: URL) throws -> AccountServerConfiguration {
        var configuration = AccountServerConfiguration(dataFolder: dataFolder)
        try configuration.readEnvironment()
        return configuration
    }

    /// Reads the environment variables of the process and `.env`, which override the current values.
    /// - Parameter isServing: Whether the server will send emails with links. In production, links need a configured address.
    /// - Throws: ``InvalidConfiguration`` with all problems.
    package mutating func readEnvironment(isServing: Bool = true) throws {
        let file = try EnvironmentFile(path: ".env").values
        let providers = [EnvironmentVariablesProvider(), EnvironmentVariablesProvider(environmentVariables: file)]
        let names = Set(ProcessInfo.processInfo.environment.keys).union(file.keys)
        // The environment has names for other programs. The names of limits are checked with the other settings.
        unknownNames = Set(file.keys).subtracting(Self.settingNames()).filter { !$0.hasPrefix("LIMIT_") }.sorted()
        try read(ConfigReader(providers: providers), names: names, isServing: isServing)
    }

    /// Returns the names of all settings, without those of single limits.
    package static func settingNames() -> Set<String> {
        let names = ReadNames()
        let none = EnvironmentVariablesProvider(environmentVariables: [:])
        var configuration = AccountServerConfiguration(port: 0, dataFolder: URL(filePath: "/"))
        // Without variables, the method reads every setting and refuses nothing.
        try? configuration.read(ConfigReader(provider: none, accessReporter: names), isServing: false)
        return names.all
    }

    /// Reads environment variables, which override the current values.
    ///
    /// If a variable is not set, most properties get their defaults. These properties keep their values instead: the name of the app, the
    /// email templates, the default language, the format of errors, the deadline, and the level and format of the log.
    /// - Parameters:
    ///   - reader: The source of the values.
    ///   - names: The names of all variables. The method refuses a variable for a limit that doesn't exist, such as a mistyped name.
    ///   - isServing: Whether the server will send emails with links. In production, links need a configured address.
    /// - Throws: ``InvalidConfiguration`` with all problems.
    public mutating func read(_ reader: ConfigReader, names: Set<String> = [], isServing: Bool = true) throws {
        var settings = SettingReader(reader: reader)
        environment = settings.choice(
            "ENVIRONMENT",
            ["production": .production, "development": .development],
            default: .production
        )
        database = AccountDatabase(&settings, isProduction: environment == .production)
        sharedLimits = SharedLimitSettings(&settings)
        limitScope = settings.choice("RATE_LIMIT_SCOPE", ["deployment": .deployment, "server": .server], default: .deployment)
        appName = settings.text("APP_NAME", maximumBytes: TokenSettings.maximumAudience) ?? appName
        emailFrom =
            settings.text("EMAIL_FROM") ?? settings.text("DEFAULT_FROM_EMAIL")
            ?? settings.text("EMAIL_HOST_USER").map { "\(appName) <\($0)>" } ?? "\(appName) <no-reply@localhost>"
        // If the address is invalid, `MailSettings` reports the problem.
        emailFrom = MailSettings.asciiSender(emailFrom) ?? emailFrom
        mail = MailSettings(&settings, sender: emailFrom)
        if let folder = settings.folder("TEMPLATES_DIR") {
            do throws(MailTemplateFolder.Refusal) {
                mailTemplates = try MailTemplateFolder(folder)
            } catch {
                for problem in error.problems { settings.refuse("TEMPLATES_DIR", problem) }
            }
        }
        defaultLanguage = settings.language("DEFAULT_LOCALE", default: defaultLanguage)
        errorForm = settings.choice(
            "ERROR_FORMAT",
            ["standard": .standard, "flat": .flat, "success": .success, "detail": .detail, "problem": .problem],
            default: errorForm
        )
        readRecovery(&settings, isServing: isServing)
        accountRules = AccountRules(&settings)
        tokens = TokenSettings(&settings, isProduction: environment == .production)
        limits = LimitSettings(&settings, names: names)
        load = LoadSettings(&settings)
        let delay = settings.integer("SHUTDOWN_DELAY_SECONDS", in: 0...60, default: environment == .production ? 2 : 0)
        shutdownDelay = .seconds(delay)
        connections = ConnectionLimits(&settings)
        idempotency = IdempotencySettings(&settings)
        tls = TLSSettings(&settings)
        if settings.text("REQUEST_TIMEOUT_SECONDS") != nil {
            let seconds = settings.integer("REQUEST_TIMEOUT_SECONDS", in: 1...600, default: 30)
            requestDeadline = RequestDeadline(.seconds(seconds))
        }
        installation = settings.text("INSTALLATION_ID")
        secret = settings.text("HOLDFAST_SECRET", isSecret: true).map(HiddenText.init)
        if let secret, secret.text.utf8.count < 32 { settings.refuse("HOLDFAST_SECRET", "must have at least 32 characters") }
        previousSecret = settings.text("HOLDFAST_SECRET_PREVIOUS", isSecret: true).map(HiddenText.init)
        if previousSecret != nil, secret == nil || previousSecret == secret {
            settings.refuse("HOLDFAST_SECRET_PREVIOUS", "must be the secret that HOLDFAST_SECRET replaces")
        }
        for (name, text) in [("HOLDFAST_SECRET", secret), ("HOLDFAST_SECRET_PREVIOUS", previousSecret)] {
            guard let text, text.isKey, text.keyBytes == nil else { continue }
            settings.refuse(name, "must have at least 32 bytes in Base64 after base64:")
        }
        metricsToken = settings.text("METRICS_TOKEN", isSecret: true).map(HiddenText.init)
        if let metricsToken, metricsToken.text.utf8.count < 32 {
            settings.refuse("METRICS_TOKEN", "must have at least 32 characters")
        }
        ops = OpsAddress(&settings, hasToken: metricsToken != nil)
        if let level = settings.text("LOG_LEVEL") {
            if let known = Logger.Level(rawValue: level.lowercased()) {
                logLevel = known
            } else {
                settings.refuse("LOG_LEVEL", "must be one of \(Logger.Level.allCases.map(\.rawValue).joined(separator: ", "))")
            }
        }
        logFormat = settings.choice("LOG_FORMAT", ["text": .text, "json": .json], default: logFormat)
        refuseUnsupported(&settings)
        guard settings.problems.isEmpty else { throw InvalidConfiguration(problems: settings.problems) }
    }

    /// Reads the settings of reset links and passwords.
    /// - Parameters:
    ///   - settings: The reader, which collects the problems.
    ///   - isServing: Whether the server will send emails with links. In production, links need a configured address.
    private mutating func readRecovery(_ settings: inout SettingReader, isServing: Bool) {
        resetBaseURL = settings.webAddress("PASSWORD_RESET_BASE_URL")
        if environment == .production, isServing {
            if settings.text("PASSWORD_RESET_BASE_URL") == nil {
                settings.refuse(
                    "PASSWORD_RESET_BASE_URL",
                    "is required in production: the https address that reset links begin with"
                )
            } else if let base = resetBaseURL, base.scheme?.lowercased() != "https" {
                settings.refuse("PASSWORD_RESET_BASE_URL", "must begin with https:// in production (is “\(base)”)")
            }
        }
        resetLinkStyle = settings.choice("RESET_LINK_STYLE", ["query": .query, "fragment": .fragment], default: .query)
        associatedApps = AssociatedApps(&settings, basePath: resetBaseURL?.path(percentEncoded: true) ?? "/")
        appScheme = settings.text("APP_LINK_SCHEME")
        if let appScheme,
            appScheme.wholeMatch(of: /[A-Za-z][A-Za-z0-9+.\-]*/) == nil
                || ["http", "https", "javascript", "data", "file", "mailto"].contains(appScheme.lowercased())
        {
            settings.refuse("APP_LINK_SCHEME", "must be a custom scheme such as myapp, without :// (is “\(appScheme)”)")
        }
        resetSubject = settings.text("PASSWORD_RESET_SUBJECT")
        resetPreview = settings.text("PASSWORD_RESET_PREVIEW")
        recoveryRules = RecoveryRules(
            linkLifetime: settings.hours("PASSWORD_RESET_TOKEN_EXPIRY_HOURS", in: 0.05...24, default: .seconds(3_600)),
            liveLinks: settings.integer("RESET_LIVE_LINKS", in: 1...100, default: 3)
        )
        passwordPolicy = PasswordPolicy(
            minimumLength: settings.integer("PASSWORD_MIN_LENGTH", in: 6...64, default: 8),
            requiresLettersAndDigits: settings.choice(
                "PASSWORD_POLICY",
                ["length": false, "letters-and-digits": true],
                default: false
            )
        )
    }

    /// Records a problem for each setting of a feature that this version doesn't have. Without this check, the server would ignore such
    /// settings silently.
    private func refuseUnsupported(_ settings: inout SettingReader) {
        let unsupported = [
            "ADMIN_TOKEN"
        ]
        for name in unsupported where settings.text(name) != nil {
            settings.refuse(name, "is not supported by this version; remove it")
        }
        if let text = settings.text("REGISTRATION_REVEALS_ACCOUNTS"), !["true", "1", "yes", "on"].contains(text.lowercased()) {
            settings.refuse(
                "REGISTRATION_REVEALS_ACCOUNTS",
                "is not supported; remove it and set REGISTRATION=blind (is “\(text)”)"
            )
        }
    }
}

/// The names of the settings that a configuration reads.
private final class ReadNames: AccessReporter {
    private let names = Mutex<Set<String>>([])

    var all: Set<String> { names.withLock(\.self) }

    func report(_ event: AccessEvent) {
        let name = event.metadata.key.components.map { $0.uppercased() }.joined(separator: "_")
        names.withLock { _ = $0.insert(name) }
    }
}
