import AccountContract
import AccountCore
import AccountRoutes
import Configuration
import ErrorContract
import Foundation
import Logging
import Observability
import Pages
import ServerMiddleware

/// All that a server is told from outside: its command line and the environment. Nothing else reads the environment.
struct ServerConfiguration: Sendable {
    enum Environment: Sendable {
        case production, development
    }

    var host: String
    /// 0 means any.
    var port: Int
    var dataFolder: URL
    var environment: Environment = .production
    var appName = "Holdfast"
    var emailFrom = "Holdfast <no-reply@localhost>"
    /// Where mails go.
    var mail = MailSettings.mailbox
    /// Mail templates in place of the usual ones.
    var mailTemplates: MailTemplateFolder?
    var defaultLanguage: Language = .english
    var errorForm: ErrorForm = .standard
    /// `nil` in development: the bound address.
    var resetBaseURL: URL?
    var resetLinkStyle: ResetLink.Style = .query
    /// The apps that universal links open, on Apple's systems and on Android.
    var associatedApps = AssociatedApps()
    /// The custom scheme that opens the app.
    var appScheme: String?
    var resetSubject: String?
    var resetPreview: String?
    var recoveryRules = RecoveryRules()
    var passwordPolicy = PasswordPolicy()
    var limits = LimitSettings()
    /// The time between two batches of mails.
    var mailPause: ClosedRange<Duration> = .milliseconds(200)...(.seconds(2))
    /// The time that a route may take.
    var requestDeadline = RequestDeadline(.seconds(30))
    /// How many requests are worked on at once; the rest is sent away.
    var load = LoadSettings()
    /// How many connections are open, and for how long.
    var connections = ConnectionLimits(perClient: 128)
    /// The address that serves `/metrics` and `/health/ready` alone; `nil` if the public one does.
    var ops: OpsAddress?
    /// How long and how many keys of repeated requests are kept.
    var idempotency = IdempotencySettings()
    /// `nil` if a proxy ends TLS.
    var tls: TLSSettings?
    /// How bodies are read, and the time in which they must have come.
    var reader = RequestReader()
    /// The installation that the database must belong to; `nil` for any.
    var installation: String?
    /// In place of the secret in the data folder.
    var secret: HiddenText?
    /// Asked for by whoever reads `/metrics`.
    var metricsToken: HiddenText?
    var logLevel: Logger.Level = .info
    var logFormat = LogFormat.text

    init(host: String = "127.0.0.1", port: Int = 8080, dataFolder: URL) {
        self.host = host
        self.port = port
        self.dataFolder = dataFolder
    }

    /// Whether the server can be reached from this machine only.
    var isLoopback: Bool { RequestHost.isLoopback(host) }

    /// Who may read `/metrics`; `nil` if no client may, and then there is no such route.
    var metricsAccess: MetricsAccess? {
        metricsToken.map { .bearer($0.text) } ?? (offersDevelopmentPages || ops != nil ? .loopback : nil)
    }

    /// Whether `/dev` is served.
    var offersDevelopmentPages: Bool { environment == .development && isLoopback }
}

extension ServerConfiguration {
    /// Reads the environment over the defaults.
    /// - Parameter isServing: Whether links will be made, so that production needs their address.
    /// - Throws: ``InvalidConfiguration`` with every problem.
    mutating func read(_ reader: ConfigReader, names: Set<String> = [], isServing: Bool = true) throws {
        var settings = SettingReader(reader: reader)
        environment = settings.choice(
            "ENVIRONMENT",
            ["production": .production, "development": .development],
            default: .production
        )
        appName = settings.text("APP_NAME") ?? appName
        emailFrom =
            settings.text("EMAIL_FROM") ?? settings.text("DEFAULT_FROM_EMAIL")
            ?? settings.text("EMAIL_HOST_USER").map { "\(appName) <\($0)>" } ?? "\(appName) <no-reply@localhost>"
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
        limits = LimitSettings(&settings, names: names)
        load = LoadSettings(&settings)
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

    /// A setting that asks for what this version does not have must not be passed over in silence.
    private func refuseUnsupported(_ settings: inout SettingReader) {
        let unsupported = [
            "DATABASE_URL", "VALKEY_URL", "ADMIN_TOKEN",
        ]
        for name in unsupported where settings.text(name) != nil {
            settings.refuse(name, "is not supported by this version; leave it out")
        }
        if let text = settings.text("REGISTRATION_REVEALS_ACCOUNTS"), !["true", "1", "yes", "on"].contains(text.lowercased()) {
            settings.refuse("REGISTRATION_REVEALS_ACCOUNTS", "can only be true in this version (is “\(text)”)")
        }
    }
}
