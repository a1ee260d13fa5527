// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let hummingbird = Target.Dependency.product(name: "Hummingbird", package: "hummingbird")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let inMemoryLogging = Target.Dependency.product(name: "InMemoryLogging", package: "swift-log")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let lifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let errorContract = Target.Dependency.product(name: "ErrorContract", package: "holdfast")
let rateLimiting = Target.Dependency.product(name: "RateLimiting", package: "holdfast")
let holdfastTesting = Target.Dependency.product(name: "HoldfastTesting", package: "holdfast")
let metrics = Target.Dependency.product(name: "CoreMetrics", package: "swift-metrics")
let metricsTestKit = Target.Dependency.product(name: "MetricsTestKit", package: "swift-metrics")
let errorLabContract = Target.Dependency.product(name: "ErrorLabContract", package: "holdfast")
let resilientHTTP = Target.Dependency.product(name: "ResilientHTTP", package: "holdfast")
let accountContract = Target.Dependency.product(name: "AccountContract", package: "holdfast")

let package = Package(
    name: "holdfast-server",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "holdfast", targets: ["holdfast"]),
        .executable(name: "holdfast-terminal-app", targets: ["holdfast-terminal-app"]),
        .executable(name: "holdfast-notes-app", targets: ["holdfast-notes-app"]),
        .executable(name: "holdfast-compared-notes", targets: ["holdfast-compared-notes"]),
        .library(name: "AccountCore", targets: ["AccountCore"]),
        .library(name: "Idempotency", targets: ["Idempotency"]),
        .library(name: "ServerMiddleware", targets: ["ServerMiddleware"]),
        .library(name: "AppLinks", targets: ["AppLinks"]),
        .library(name: "APIReference", targets: ["APIReference"]),
        .library(name: "AccountRoutes", targets: ["AccountRoutes"]),
        .library(name: "RecoveryPages", targets: ["RecoveryPages"]),
        .library(name: "ErrorLab", targets: ["ErrorLab"]),
        .library(name: "SQLiteStores", targets: ["SQLiteStores"]),
        .library(name: "FileMail", targets: ["FileMail"]),
        .library(name: "SMTPMail", targets: ["SMTPMail"]),
        .library(name: "Argon2", targets: ["Argon2"]),
        .library(name: "HoldfastAsyncHTTPClient", targets: ["HoldfastAsyncHTTPClient"]),
        .library(name: "HoldfastMetrics", targets: ["HoldfastMetrics"]),
        .library(name: "HoldfastLogging", targets: ["HoldfastLogging"]),
        .library(name: "AccountImport", targets: ["AccountImport"]),
        .library(name: "ImportedHashes", targets: ["ImportedHashes"]),
    ],
    dependencies: [
        .package(name: "holdfast", path: ".."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CArgon2",
            pkgConfig: "libargon2",
            providers: [.apt(["libargon2-dev"]), .brew(["argon2"])]
        ),
        .systemLibrary(
            name: "CLibCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .target(name: "Argon2", dependencies: ["CArgon2"], swiftSettings: settings),
        .systemLibrary(name: "CCrypt", providers: [.apt(["libcrypt-dev"])]),
        .target(
            name: "ImportedHashes",
            dependencies: [
                crypto, .product(name: "CryptoExtras", package: "swift-crypto"),
                .target(name: "CCrypt", condition: .when(platforms: [.linux])),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "AccountImport",
            dependencies: [
                "AccountCore", "Argon2", "ImportedHashes", accountContract, errorContract,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .target(name: "LoadControl", swiftSettings: settings),
        .target(
            name: "AccountCore",
            dependencies: [
                "HoldfastLogging", "LoadControl",
                accountContract, errorContract, rateLimiting, crypto, lifecycle, logging, metrics,
                .product(name: "JWTKit", package: "jwt-kit"),
            ],
            swiftSettings: settings
        ),
        .target(name: "Idempotency", dependencies: [rateLimiting, httpTypes, crypto], swiftSettings: settings),
        .target(
            name: "ServerMiddleware",
            dependencies: [
                "HoldfastLogging", "Idempotency", "LoadControl",
                errorContract, rateLimiting, hummingbird, httpTypes, lifecycle, logging, metrics,
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrorLab",
            dependencies: [
                "ServerMiddleware", errorContract, errorLabContract, rateLimiting, hummingbird, httpTypes, lifecycle,
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            resources: [
                .embedInCode("Families/families.json"),
                .embedInCode("Templates/control.mustache"),
                .embedInCode("Templates/lab.html.mustache"),
                .embedInCode("Templates/lab.css"),
                .embedInCode("Templates/lab.js"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "RecoveryPages",
            dependencies: [
                "AccountCore", accountContract, errorContract,
                .product(name: "Mustache", package: "swift-mustache"),
            ],
            resources: [
                .embedInCode("Templates/errors.css"),
                .embedInCode("Templates/errors.html.mustache"),
                .embedInCode("Templates/mail.html.mustache"),
                .embedInCode("Templates/mail.txt.mustache"),
                .embedInCode("Templates/mailbox.html.mustache"),
                .embedInCode("Templates/page.html.mustache"),
                .embedInCode("Templates/run.html.mustache"),
                .embedInCode("Templates/page.css"),
                .embedInCode("Templates/page.js"),
            ],
            swiftSettings: settings
        ),
        .target(name: "AppLinks", dependencies: [errorContract], swiftSettings: settings),
        .target(
            name: "APIReference",
            dependencies: [accountContract, errorContract, .product(name: "Mustache", package: "swift-mustache")],
            resources: [
                .embedInCode("Page/Templates/reference.html.mustache"),
                .embedInCode("Page/Templates/reference.css"),
                .embedInCode("Page/Templates/reference.js"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "AccountRoutes",
            dependencies: [
                "AccountCore", "APIReference", "HoldfastLogging", "RecoveryPages", "ServerMiddleware",
                accountContract, errorContract, rateLimiting, hummingbird, httpTypes, logging, crypto,
            ],
            swiftSettings: settings
        ),
        .target(
            name: "SQLiteStores",
            dependencies: [
                "AccountCore", "HoldfastLogging", "Idempotency", accountContract, errorContract, rateLimiting, httpTypes,
                lifecycle,
                logging,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .target(name: "MIMEMail", dependencies: ["AccountCore", accountContract, errorContract], swiftSettings: settings),
        .target(
            name: "SMTPMail",
            dependencies: ["AccountCore", "CLibCurl", "MIMEMail", accountContract],
            swiftSettings: settings
        ),
        .target(
            name: "FileMail",
            dependencies: ["AccountCore", "MIMEMail", accountContract, errorContract],
            swiftSettings: settings
        ),
        .target(
            name: "HoldfastAsyncHTTPClient",
            dependencies: [
                resilientHTTP, httpTypes,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "HoldfastMetrics",
            dependencies: [resilientHTTP, errorContract, httpTypes, metrics],
            swiftSettings: settings
        ),
        .target(name: "HoldfastLogging", dependencies: [logging], swiftSettings: settings),
        .executableTarget(
            name: "holdfast",
            dependencies: [
                "AccountCore", "AccountImport", "AccountRoutes", "APIReference", "AppLinks", "Argon2", "ErrorLab", "FileMail",
                "HoldfastLogging", "HoldfastMetrics", "Idempotency", "ImportedHashes", "RecoveryPages", "SMTPMail",
                "ServerMiddleware", "SQLiteStores",
                accountContract, errorContract, errorLabContract, rateLimiting, hummingbird, logging, lifecycle, crypto,
                .product(name: "AccountKit", package: "holdfast"),
                .product(name: "HoldfastURLSession", package: "holdfast"),
                .product(name: "ResilientHTTP", package: "holdfast"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                httpTypes,
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "HummingbirdTLS", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "SystemPackage", package: "swift-system"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "holdfast-terminal-app",
            dependencies: [
                accountContract, errorContract,
                .product(name: "AccountKit", package: "holdfast"),
                .product(name: "HoldfastURLSession", package: "holdfast"),
                .product(name: "ResilientHTTP", package: "holdfast"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            path: "Examples/TerminalApp",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "holdfast-notes-app",
            dependencies: [
                "ServerMiddleware", errorContract, hummingbird, httpTypes, logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Examples/NotesApp",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "holdfast-compared-notes",
            dependencies: [
                "ServerMiddleware", accountContract, errorContract, rateLimiting, hummingbird, httpTypes, logging,
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Examples/ComparedNotes",
            swiftSettings: settings
        ),
        .testTarget(
            name: "HoldfastAsyncHTTPClientTests",
            dependencies: [
                "HoldfastAsyncHTTPClient", resilientHTTP, errorContract, httpTypes, holdfastTesting,
                .product(name: "HoldfastURLSession", package: "holdfast"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "HoldfastMetricsTests",
            dependencies: [
                "HoldfastMetrics", resilientHTTP, errorContract, httpTypes, holdfastTesting, metrics, metricsTestKit,
            ],
            swiftSettings: settings
        ),
        .testTarget(name: "HoldfastLoggingTests", dependencies: ["HoldfastLogging", logging], swiftSettings: settings),
        .testTarget(name: "AppLinksTests", dependencies: ["AppLinks", errorContract, holdfastTesting], swiftSettings: settings),
        .testTarget(
            name: "APIReferenceTests",
            dependencies: ["APIReference", accountContract, errorContract, holdfastTesting],
            swiftSettings: settings
        ),
        .testTarget(name: "Argon2Tests", dependencies: ["Argon2"], swiftSettings: settings),
        .testTarget(name: "ImportedHashesTests", dependencies: ["ImportedHashes"], swiftSettings: settings),
        .testTarget(name: "LoadControlTests", dependencies: ["LoadControl", holdfastTesting], swiftSettings: settings),
        .testTarget(
            name: "AccountCoreTests",
            dependencies: [
                "AccountCore", "LoadControl", accountContract, errorContract, rateLimiting, crypto, holdfastTesting, httpTypes,
                resilientHTTP,
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "SQLiteStoresTests",
            dependencies: [
                "SQLiteStores", "AccountCore", "FileMail", "Idempotency", "RecoveryPages", accountContract, errorContract,
                rateLimiting, crypto, httpTypes, logging,
                lifecycle, holdfastTesting, inMemoryLogging,
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FileMailTests",
            dependencies: ["FileMail", "MIMEMail", "AccountCore", accountContract, errorContract],
            swiftSettings: settings
        ),
        .target(
            name: "MailServerTesting",
            path: "Tests/MailServerTesting",
            exclude: ["smtp_server.py"],
            swiftSettings: settings
        ),
        .target(
            name: "Attacks",
            dependencies: [
                "Argon2", "FileMail", "HoldfastAsyncHTTPClient", accountContract, errorContract, httpTypes, resilientHTTP,
                .product(name: "AccountKit", package: "holdfast"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOFoundationCompat", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ],
            path: "Tests/Attacks",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "holdfast-attack",
            dependencies: ["Attacks", .product(name: "ArgumentParser", package: "swift-argument-parser")],
            path: "Tests/AttackCommand",
            swiftSettings: settings
        ),
        .testTarget(
            name: "SMTPMailTests",
            dependencies: ["SMTPMail", "AccountCore", "MIMEMail", "MailServerTesting", accountContract, errorContract],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RecoveryPagesTests",
            dependencies: ["RecoveryPages", "AccountCore", accountContract, errorContract],
            resources: [.copy("Golden")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ServerMiddlewareTests",
            dependencies: [
                "Idempotency", "ServerMiddleware", errorContract, rateLimiting, hummingbird, httpTypes, logging, inMemoryLogging,
                holdfastTesting,
                metrics, metricsTestKit,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "holdfast", "AccountCore", "AccountImport", "AccountRoutes", "AppLinks", "Argon2", "Idempotency",
                "ServerMiddleware",
                accountContract, errorContract, rateLimiting, httpTypes, logging, crypto, hummingbird, holdfastTesting,
                .product(name: "AccountKit", package: "holdfast"),
                .product(name: "Configuration", package: "swift-configuration"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPTypes", package: "swift-nio-extras"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "HoldfastTests",
            dependencies: [
                "holdfast", "holdfast-terminal-app", "holdfast-notes-app", "AccountCore", "AccountRoutes", "APIReference",
                "AppLinks",
                "Argon2", "Attacks", "ErrorLab", "FileMail", "HoldfastAsyncHTTPClient", "Idempotency", "MIMEMail",
                "MailServerTesting",
                "RecoveryPages", "SMTPMail", "SQLiteStores", "ServerMiddleware",
                accountContract, errorContract, errorLabContract, rateLimiting, httpTypes, logging, lifecycle, holdfastTesting,
                hummingbird,
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "AccountKit", package: "holdfast"),
                .product(name: "HoldfastURLSession", package: "holdfast"),
                .product(name: "ResilientHTTP", package: "holdfast"),
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            exclude: ["Reference/Schemathesis"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
