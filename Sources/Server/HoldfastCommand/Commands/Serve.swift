import AccountServer
import ArgumentParser
import Foundation
import Logging
import NIOCore
import Observability

/// `holdfast serve`: serves the account API until a signal ends the process.
struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Serve the account API.",
        discussion: """
            Prints the address of the server in the first line. SIGTERM and SIGINT end the server with exit code 0 after it has finished
            the requests and emails in flight. SIGHUP reloads the rate limits from .env.

            Settings (environment or .env; docs/operations/settings.md also lists the ranges of values):
              ENVIRONMENT                            production (default) or development
              PASSWORD_RESET_BASE_URL                the address with which reset links begin; required in production
              APP_NAME, EMAIL_FROM                   the app's name and the sender of emails (also read as DEFAULT_FROM_EMAIL)
              EMAIL_HOST, EMAIL_PORT                 the SMTP server; without it, emails go to the local mailbox
              EMAIL_USE_TLS, EMAIL_USE_SSL           true for STARTTLS (587), true for TLS from the first byte (465)
              EMAIL_HOST_USER, EMAIL_HOST_PASSWORD   the login for the SMTP server
              EMAIL_TIMEOUT, EMAIL_CA_FILE           seconds per email (30); a PEM file of certificate authorities, instead of the system's
              TEMPLATES_DIR                          a folder of email templates that replace the standard ones
              DEFAULT_LOCALE                         en (default), es, he, pt, fr or de; used if a client accepts none of these languages
              ERROR_FORMAT                           standard (default), flat, success, detail or problem
              APPLE_APP_IDS                          the apps that open links, such as TEAM123456.com.example.app, separated by commas
              ANDROID_PACKAGE, ANDROID_CERT_SHA256   the same for Android
              APP_LINK_SCHEME                        the custom scheme of the app, such as myapp
              RESET_LINK_STYLE                       query (default) or fragment
              RESET_LIVE_LINKS                       reset links of one account that are valid at once (3)
              PASSWORD_RESET_TOKEN_EXPIRY_HOURS      the lifetime of a reset link in hours (1)
              PASSWORD_RESET_MAX_ATTEMPTS_PER_HOUR   reset requests for one address, and reset emails to it (3)
              LIMIT_RESET_EMAIL                      the same limit, written as quota/seconds, such as 3/3600, or off
              LIMIT_RESET_IP, LIMIT_RESET_GLOBAL     reset requests of one client (20/60), and of all clients (600/60)
              LIMIT_LOGIN_ACCOUNT, LIMIT_LOGIN_IP    sign-ins of one client with one address (10/900), with any address (60/60)
              LIMIT_LOGIN_FAILURES                   wrong passwords for one address, of all clients together (50/3600)
              LIMIT_LOGIN_DEVICE                     wrong passwords of one device that signed in before (10/900)
              LIMIT_REFRESH_IP, LIMIT_REGISTER_IP    session refreshes (60/60), registrations (10/3600) of one client
              LIMIT_TOKEN_IP                         links validated or used by one client (30/60)
              LIMIT_REGISTER_EMAIL                   blind registrations for one address (3/3600)
              LIMIT_VERIFY_EMAIL                     requests to verify one address (3/3600)
              LIMIT_ACCOUNT_IP                       changes of accounts by one client (60/60)
              LIMIT_LINK_ATTEMPTS                    uses of one emailed link that changes an account (10/86400)
              LIMIT_ACCOUNT_CHANGE                   changes of an account by one session without the password (60/3600)
              LIMIT_ACCOUNT_PASSWORD                 password checks of an account by one session (10/3600)
              LIMIT_CHANGE_EMAIL, LIMIT_EXPORT       new addresses of one account (3/3600), its exports (3/86400)
              LIMIT_…_WIDE                           multiples of the quota for a /56 or /24, and for a /48 (4,16)
              LIMIT_MEMORY_MB                        memory of all limits (128)
              RATE_LIMIT_MODE                        enforce (default), shadow (count and log, refuse nothing) or off
              TLS_CERT, TLS_KEY                      files in PEM, if no proxy terminates TLS; read at the start
              TRUSTED_PROXIES                        the proxies whose Forwarded or X-Forwarded-For is used: addresses, ranges, with commas
              CLIENT_IPV6_PREFIX                     the leading bits that identify an IPv6 client, 48 to 64 (64)
              MAX_CONNECTIONS                        open connections (4096), as far as the process's limit of open files allows
              MAX_CONNECTIONS_PER_CLIENT             open connections of one client (128); proxies in TRUSTED_PROXIES are exempt
              HEADER_TIMEOUT_SECONDS                 the time for the head of a request to arrive, including the TLS handshake (10)
              IDLE_TIMEOUT_SECONDS                   the time between two requests (60); 15 near the limit of connections
              WRITE_TIMEOUT_SECONDS                  the time after which a client that reads no response is closed (30)
              REQUESTS_IN_FLIGHT, REQUESTS_WAITING   requests processed at once (512) and waiting (64); further ones get 503
              SHUTDOWN_DELAY_SECONDS                 the time after SIGTERM in which the server still serves, but is not ready (2)
              REQUEST_TIMEOUT_SECONDS                the time after which a request gets 504 (30)
              IDEMPOTENCY_KEY_HOURS                  the lifetime of an Idempotency-Key in hours (24)
              IDEMPOTENCY_MEGABYTES                  the space for such keys in the database (1024)
              PASSWORD_RESET_SUBJECT                 the subject of reset emails, instead of the standard one
              PASSWORD_RESET_PREVIEW                 the preview text of reset emails, instead of the standard one
              REGISTRATION                           open (default); blind, which reveals no account: an email creates it; or closed
              REQUIRE_VERIFIED_EMAIL                 true: only users with a verified address can sign in (false)
              DELETION_GRACE_DAYS                    days from the deletion of an account to its removal, 0 to 365 (7)
              UNVERIFIED_DAYS                        days after which never verified, unused accounts are removed; 0 for never (0)
              NEW_DEVICE_EMAILS                      an email at the first sign-in from a new kind of device (true)
              PASSWORD_MIN_LENGTH                    the smallest number of characters of a new password (8)
              PASSWORD_POLICY                        length (default), or letters-and-digits: a new password needs both
              INSTALLATION_ID                        the installation that the database must belong to, from DATA/installation-id
              DATABASE_URL                           sqlite (default) for the file in the data folder, or
                                                     postgres://USER:PASSWORD@HOST/DATABASE;
                                                     ?pool_max=N sets the number of connections (16)
              VALKEY_URL                             redis://:PASSWORD@HOST:PORT/0, with which several servers share their rate limits
              VALKEY_FALLBACK                        the limits while Valkey is down: local/PERCENT of the quota (local/50), open or closed;
                                                     NAME=VALUE for one limit, such as local/33,login-ip=open
              RATE_LIMIT_SCOPE                       deployment (default), or server: N servers admit up to N times each limit
              HOLDFAST_SECRET                        replaces the secret in the data folder; at least 32 characters; required with
                                                     DATABASE_URL and with VALKEY_URL
              HOLDFAST_SECRET_PREVIOUS               the secret that HOLDFAST_SECRET replaces; tokens of the old secret stay valid
              TOKEN_ISSUER, TOKEN_AUDIENCE           iss and aud of access tokens (the address of links, and APP_NAME)
              METRICS_TOKEN                          the bearer token that /metrics requires; at least 32 characters
              OPS_LISTEN                             HOST:PORT that serves /metrics and /health/ready, instead of the public address
              LOG_LEVEL                              trace, debug, info (default), notice, warning, error, critical
              LOG_FORMAT                             text (default) or json: one object per line

            In development, and only on a loopback address, /dev/mailbox shows the emails.
            """
    )

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Option(help: "The port to listen on; 0 for any free port.")
    var port = 8080

    @Flag(help: "Create the database of a new installation; required once in production.")
    var create = false

    @Flag(help: "Share the folder with other servers on this machine; each applies the rate limits separately.")
    var sharedData = false

    @OptionGroup var data: DataOptions

    /// Validates the port.
    func validate() throws {
        guard (0...65_535).contains(port) else { throw ValidationError("--port must be from 0 to 65535 (is \(port))") }
    }

    /// Reads the settings, opens the stores and serves.
    /// - Throws: `ExitCode` 78 if the settings or the database don't fit the installation; 1 for any other reason, such as a used port.
    func run() async throws {
        // SIGHUP reloads the limits. Without this line, SIGHUP would end a server that is still starting.
        signal(SIGHUP, SIG_IGN)
        // The event loops read this value, so it is set before the first event loop is created.
        NIOSingletons.groupLoopCountSuggestion = ProcessorCount.available
        var settings = try AccountServerConfiguration.load(host: host, port: port, data: data.folder)
        settings.sharesDataFolder = sharedData
        let configuration = settings
        let logger = Logger.standard(level: configuration.logLevel, format: configuration.logFormat)
        do {
            if case .mailbox = configuration.mail, configuration.environment == .production {
                logger.warning("Emails are not sent but stored in the local mailbox: set EMAIL_HOST")
            }
            if !configuration.unknownNames.isEmpty {
                let names = configuration.unknownNames.joined(separator: ", ")
                logger.warning("Names in .env that are not settings are ignored", metadata: ["names": "\(names)"])
            }
            try await requireDatabase(configuration)
            let server = try await HoldfastServer(configuration: configuration, logger: logger)
            let stores = server.accounts.stores
            do {
                try stores.folder.requireInstallation(try await stores.installation(), configured: configuration.installation)
                try await server.runUntilSignaled(logger: logger) { announce($0, configuration) }
            } catch {
                // If the server could not listen, its services did not run, so this code closes the stores. Otherwise, the next server
                // would treat this server as killed.
                try? await server.accounts.limitStore.close()
                try? await stores.close()
                throw error
            }
            try await stores.close()
        } catch {
            let isConfiguration =
                error is DataFolderInUse || error is MissingDatabase || error is WrongInstallation || error is DeploymentInUse
                || error is MissingTables || error is MovedDatabase || error is IncompleteCopy
            Terminal.complain("The server could not run: \(StartFailure(error, host: host, port: port)).")
            throw isConfiguration ? ExitCode.badConfiguration : ExitCode.failure
        }
    }

    /// Checks that the database of the installation exists, unless the command may create a new installation. The database must also belong
    /// to the data folder and to `INSTALLATION_ID`. The method runs before the server creates anything, so a refused server leaves no files
    /// behind.
    private func requireDatabase(_ configuration: AccountServerConfiguration) async throws {
        let mayCreate = create || configuration.environment == .development
        switch configuration.database {
        case .sqlite:
            try DataFolder.requireDatabase(in: data.folder, configured: configuration.installation, mayCreate: mayCreate)
        case .postgres(let settings):
            try await PostgresDeployment.requireInstallation(
                settings,
                in: data.folder,
                configured: configuration.installation,
                mayCreate: mayCreate
            )
        }
    }

    /// Prints the address in the first line, so that scripts can read it, and then a summary of the configuration.
    private func announce(_ url: URL, _ configuration: AccountServerConfiguration) {
        Terminal.say(url.absoluteString)
        let mode = configuration.environment == .development ? "development" : "production"
        Terminal.say("Holdfast serves the account API (\(mode)).")
        let database = configuration.database.isRemote ? "PostgreSQL, and " : ""
        Terminal.say("  data     \(database)\(configuration.dataFolder.path)")
        Terminal.say("  docs     \(url.absoluteString)/docs")
        let health = configuration.ops.map { "http://\($0)" } ?? url.absoluteString
        Terminal.say("  health   \(health)/health/ready")
        let files = "not sent but stored in \(configuration.dataFolder.path)/mailbox; set EMAIL_HOST"
        let isProduction = configuration.environment == .production
        if let mail = configuration.mail.summary ?? (isProduction ? files : nil) { Terminal.say("  mail     \(mail)") }
        if configuration.offersDevelopmentPages {
            if configuration.mail.summary == nil { Terminal.say("  mailbox  \(url.absoluteString)/dev/mailbox") }
            Terminal.say("  lab      \(url.absoluteString)/dev/lab")
        }
        Terminal.say("Stop with Ctrl-C.")
    }
}

extension Logger {
    /// Creates the logger of a command, which writes lines to standard error. The lines contain no addresses and no secrets.
    static func standard(level: Logger.Level, format: LogFormat = .text) -> Logger {
        var logger = Logger(label: "holdfast") { LineLogHandler(label: $0, format: format) }
        logger.logLevel = level
        return logger
    }
}
