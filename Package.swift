// swift-tools-version: 6.2
import PackageDescription

// The libraries for apps depend only on swift-http-types and swift-log. All other dependencies require the trait `Server`. SwiftPM doesn't
// fetch a dependency that no enabled trait requires. See docs/decisions/0100-one-package-with-a-server-trait.md.
let onServers = TargetDependencyCondition.when(traits: ["Server"])
let onVerifiers = TargetDependencyCondition.when(traits: ["Server", "TokenVerifier"])

let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

/// Returns a dependency on a product that only the trait `Server` requires.
func server(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: onServers)
}

let argumentParser = server("ArgumentParser", "swift-argument-parser")
let asyncHTTPClient = server("AsyncHTTPClient", "async-http-client")
let configuration = server("Configuration", "swift-configuration")
let crypto = server("Crypto", "swift-crypto")
let grdb = server("GRDB", "GRDB.swift")
let hummingbird = server("Hummingbird", "hummingbird")
let hummingbirdCore = server("HummingbirdCore", "hummingbird")
let inMemoryLogging = server("InMemoryLogging", "swift-log")
let lifecycle = server("ServiceLifecycle", "swift-service-lifecycle")
let metrics = server("CoreMetrics", "swift-metrics")
let metricsTestKit = server("MetricsTestKit", "swift-metrics")
let mustache = server("Mustache", "swift-mustache")
let nioCore = server("NIOCore", "swift-nio")
let nioEmbedded = server("NIOEmbedded", "swift-nio")
let nioHTTP1 = server("NIOHTTP1", "swift-nio")
let nioHTTPTypes = server("NIOHTTPTypes", "swift-nio-extras")
let nioHTTPTypesHTTP1 = server("NIOHTTPTypesHTTP1", "swift-nio-extras")
let nioPosix = server("NIOPosix", "swift-nio")
let nioSSL = server("NIOSSL", "swift-nio-ssl")

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

// The privacy manifest, in which the libraries declare to the App Store why they read the sizes and times of files. On other systems, a
// resource would add Foundation and a folder to each server.
let privacyManifest = "PrivacyInfo.xcprivacy"
#if canImport(Darwin)
    let needsPrivacyManifest = true
#else
    let needsPrivacyManifest = false
#endif

/// Returns a library target in `Sources/area`.
func module(_ area: String, _ name: String, _ dependencies: [Target.Dependency] = [], embed: [String] = []) -> Target {
    .target(
        name: name,
        dependencies: dependencies,
        path: "Sources/\(area)/\(name)",
        resources: embed.map { .embedInCode($0) },
        swiftSettings: settings
    )
}

/// Returns an executable target in a folder.
func program(_ name: String, in path: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, path: path, swiftSettings: settings)
}

/// Returns a test target in `Tests`, with the modules that all tests use.
func tests(
    _ name: String,
    in folder: String? = nil,
    exclude: [String] = [],
    copy: [String] = [],
    _ dependencies: [Target.Dependency]
) -> Target {
    .testTarget(
        name: name,
        dependencies: dependencies + ["HoldfastTesting", "TestSupport", "Timekeeping"],
        path: "Tests/\(folder ?? name)",
        exclude: exclude,
        resources: copy.map { .copy($0) },
        swiftSettings: settings
    )
}

let appLibraries = [
    "Holdfast", "StrictJSON", "Timekeeping", "ErrorContract", "RateLimiting", "AccountContract",
    "ErrorLabContract", "ResilientHTTP",
    "HoldfastURLSession", "OfflineQueue", "OfflineQueueUI",
    "AccountKit", "AccountUI", "HoldfastTesting",
]
let serverLibraries = [
    "AccountServer", "ServerMiddleware", "Idempotency", "AccountCore", "AccountRoutes", "AccountImport",
    "SQLiteStores", "Email", "Pages", "OpenAPI", "PasswordHashes", "AppLinks", "Observability", "ClientMetrics",
    "HoldfastAsyncHTTPClient", "ErrorLab", "AccountStoreTesting", "PostgresDriver", "PostgresStores", "ValkeyDriver",
    "ValkeyStores", "TokenVerifier",
]

/// The plugin for `scripts/documentation`, which sets the environment variable. Packages that depend on this one never resolve the plugin.
let documentation: [Package.Dependency] =
    Context.environment["HOLDFAST_DOCUMENTATION"] == nil
    ? [] : [.package(url: "https://github.com/swiftlang/swift-docc-plugin", from: "1.5.0")]

let package = Package(
    name: "holdfast",
    platforms: [.iOS(.v18), .macOS(.v15), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: (appLibraries + serverLibraries).map { .library(name: $0, targets: [$0]) } + [
        .executable(name: "holdfast", targets: ["HoldfastCommand"])
    ],
    traits: [
        .trait(name: "Server", description: "Libraries for Hummingbird servers, and the command holdfast."),
        .trait(name: "TokenVerifier", description: "The library TokenVerifier alone, for services that verify access tokens."),
        .default(enabledTraits: []),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        // Dependencies of the trait Server.
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", from: "2.1.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.0"),
    ] + documentation,
    targets: [
        // Libraries for apps and servers.
        module("Shared", "StrictJSON"),
        module("Shared", "Timekeeping"),
        .target(
            name: "PrivateFiles",
            path: "Sources/Shared/PrivateFiles",
            exclude: needsPrivacyManifest ? [] : [privacyManifest],
            resources: needsPrivacyManifest ? [.copy(privacyManifest)] : [],
            swiftSettings: settings
        ),
        module("Shared", "ErrorContract", ["StrictJSON", "Timekeeping", httpTypes]),
        module("Shared", "RateLimiting", ["Timekeeping"]),
        module("Shared", "AccountContract", ["ErrorContract"]),
        module("Shared", "ErrorLabContract", ["ErrorContract", "Timekeeping"]),

        // Libraries for apps.
        module("App", "ResilientHTTP", ["ErrorContract", "PrivateFiles", "RateLimiting", "Timekeeping", httpTypes, logging]),
        module("App", "HoldfastURLSession", ["ResilientHTTP", httpTypes]),
        module(
            "App",
            "OfflineQueue",
            [
                "AccountContract", "ErrorContract", "PrivateFiles", "RateLimiting", "ResilientHTTP", "StrictJSON", "Timekeeping",
                httpTypes, logging,
            ]
        ),
        module(
            "App",
            "AccountKit",
            ["AccountContract", "ErrorContract", "ErrorLabContract", "ResilientHTTP", "Timekeeping", httpTypes]
        ),
        module("App", "AccountUI", ["AccountKit", "AccountContract", "ErrorContract", "ErrorLabContract"]),
        module(
            "App",
            "OfflineQueueUI",
            ["AccountKit", "AccountUI", "ErrorContract", "OfflineQueue", "ResilientHTTP", "Timekeeping"]
        ),
        module(
            "App",
            "Holdfast",
            [
                "ErrorContract", "RateLimiting", "ResilientHTTP", "HoldfastURLSession", "AccountContract", "AccountKit",
                "AccountUI", "StrictJSON", "Timekeeping",
                httpTypes,
            ]
        ),
        module("Testing", "HoldfastTesting", ["ResilientHTTP", "Timekeeping", httpTypes]),

        // Libraries for servers.
        .systemLibrary(
            name: "CArgon2",
            path: "Sources/C/CArgon2",
            pkgConfig: "libargon2",
            providers: [.apt(["libargon2-dev"]), .brew(["argon2"])]
        ),
        .systemLibrary(name: "CCrypt", path: "Sources/C/CCrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(
            name: "CLibCurl",
            path: "Sources/C/CLibCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .systemLibrary(
            name: "CLibPQ",
            path: "Sources/C/CLibPQ",
            pkgConfig: "libpq",
            providers: [.apt(["libpq-dev"]), .brew(["libpq"])]
        ),
        .systemLibrary(
            name: "CHiredis",
            path: "Sources/C/CHiredis",
            pkgConfig: "hiredis",
            providers: [.apt(["libhiredis-dev"]), .brew(["hiredis"])]
        ),
        module("Server", "Scheduling", ["Timekeeping", lifecycle]),
        module("Server", "Idempotency", ["ErrorContract", "RateLimiting", httpTypes, crypto]),
        module("Server", "Observability", ["Timekeeping", logging, metrics]),
        module("Server", "ClientMetrics", ["ErrorContract", "OfflineQueue", "ResilientHTTP", "Timekeeping", httpTypes, metrics]),
        module("Server", "AppLinks", ["ErrorContract", "StrictJSON"]),
        module(
            "Server",
            "TokenVerifier",
            [
                "AccountContract", "RateLimiting", "StrictJSON", "Timekeeping",
                .product(name: "JWTKit", package: "jwt-kit", condition: onVerifiers),
            ]
        ),
        module(
            "Server",
            "PasswordHashes",
            [
                "CArgon2", .target(name: "CCrypt", condition: .when(platforms: [.linux])), crypto,
                server("CryptoExtras", "swift-crypto"),
            ]
        ),
        module(
            "Server",
            "AccountCore",
            [
                "AccountContract", "ErrorContract", "Observability", "RateLimiting", "Scheduling", "StrictJSON", "Timekeeping",
                "TokenVerifier",
                crypto, lifecycle, logging, metrics,
            ]
        ),
        module(
            "Testing",
            "AccountStoreTesting",
            ["AccountContract", "AccountCore", "ErrorContract", "Idempotency", "RateLimiting", crypto, httpTypes, logging]
        ),
        module("Server", "AccountImport", ["AccountContract", "AccountCore", "ErrorContract", "PasswordHashes", grdb]),
        module("Server", "Email", ["AccountContract", "AccountCore", "CLibCurl", "ErrorContract", "Timekeeping"]),
        module(
            "Server",
            "SQLiteStores",
            [
                "AccountContract", "AccountCore", "ErrorContract", "Idempotency", "Observability", "RateLimiting", "Scheduling",
                grdb,
                httpTypes, lifecycle, logging,
            ]
        ),
        module("Server", "PostgresDriver", ["CLibPQ", "Observability", "Timekeeping", logging, metrics]),
        module(
            "Server",
            "PostgresStores",
            [
                "AccountContract", "AccountCore", "ErrorContract", "Idempotency", "Observability", "PostgresDriver",
                "RateLimiting",
                "Timekeeping", crypto, httpTypes, logging,
            ]
        ),
        module(
            "Server",
            "StoreMigration",
            ["AccountCore", "PostgresDriver", "PostgresStores", "SQLiteStores", "Timekeeping", crypto, grdb]
        ),
        module("Server", "ValkeyDriver", ["CHiredis", "Observability", "Timekeeping", logging, metrics, nioCore, nioPosix]),
        module(
            "Server",
            "ValkeyStores",
            ["Observability", "RateLimiting", "Timekeeping", "ValkeyDriver", lifecycle, logging, metrics]
        ),
        module(
            "Server",
            "ServerMiddleware",
            [
                "ErrorContract", "Idempotency", "Observability", "RateLimiting", "Scheduling", "StrictJSON", "Timekeeping",
                hummingbird, hummingbirdCore,
                httpTypes,
                lifecycle, logging, metrics, nioCore, nioHTTP1, nioHTTPTypes, nioHTTPTypesHTTP1,
                server("Instrumentation", "swift-distributed-tracing"),
            ]
        ),
        module(
            "Server",
            "OpenAPI",
            ["AccountContract", "ErrorContract", "StrictJSON", "Timekeeping"]
        ),
        module(
            "Server",
            "Pages",
            ["AccountContract", "AccountCore", "ErrorContract", "ErrorLabContract", "OpenAPI", "StrictJSON", mustache],
            embed: [
                "control.mustache", "errors.css", "errors.html.mustache", "home.css", "home.html.mustache", "lab.css",
                "lab.html.mustache", "lab.js", "mail.html.mustache", "mail.txt.mustache", "mailbox.html.mustache", "page.css",
                "page.html.mustache", "page.js", "reference.css", "reference.html.mustache", "reference.js", "run.html.mustache",
            ].map { "Templates/\($0)" }
        ),
        module(
            "Server",
            "AccountRoutes",
            [
                "AccountContract", "AccountCore", "ErrorContract", "Idempotency", "Observability", "OpenAPI", "Pages",
                "RateLimiting", "ServerMiddleware", "StrictJSON", "Timekeeping", crypto, hummingbird, httpTypes, logging,
            ]
        ),
        module(
            "Server",
            "ErrorLab",
            [
                "ErrorContract", "ErrorLabContract", "Pages", "RateLimiting", "ServerMiddleware", "StrictJSON", "Timekeeping",
                hummingbird, httpTypes,
                lifecycle,
                nioCore,
            ],
            embed: ["families.json"]
        ),
        module(
            "Server",
            "HoldfastAsyncHTTPClient",
            [
                "ResilientHTTP", "Timekeeping", asyncHTTPClient, httpTypes, nioCore, nioHTTP1, nioPosix, nioSSL,
                server("NIOHTTPCompression", "swift-nio-extras"), server("Tracing", "swift-distributed-tracing"),
            ]
        ),
        module(
            "Server",
            "AccountServer",
            [
                "AccountContract", "AccountCore", "AccountRoutes", "AppLinks", "Email", "ErrorContract", "Idempotency",
                "Observability", "OpenAPI", "Pages", "PasswordHashes", "PostgresDriver", "PostgresStores", "PrivateFiles",
                "RateLimiting", "SQLiteStores", "Scheduling", "ServerMiddleware", "ValkeyDriver", "ValkeyStores",
                configuration, crypto, hummingbird, httpTypes, lifecycle, logging, metrics, nioCore, nioSSL,
            ]
        ),
        program(
            "HoldfastCommand",
            in: "Sources/Server/HoldfastCommand",
            [
                "AccountContract", "AccountCore", "AccountImport", "AccountKit", "AccountRoutes", "AccountServer", "AppLinks",
                "Email", "ErrorContract", "ErrorLab", "ErrorLabContract", "HoldfastURLSession", "Idempotency", "Observability",
                "OfflineQueue", "OpenAPI",
                "Pages", "PostgresDriver", "PostgresStores",
                "RateLimiting", "ResilientHTTP", "SQLiteStores", "ServerMiddleware", "StoreMigration", "StrictJSON",
                "Timekeeping", "ValkeyDriver",
                argumentParser, grdb, hummingbird, hummingbirdCore, httpTypes, lifecycle, logging, nioCore,
                server("HummingbirdTLS", "hummingbird"), server("UnixSignals", "swift-service-lifecycle"),
            ]
        ),

        // Examples.
        .executableTarget(name: "GettingStarted", dependencies: ["Holdfast", "OfflineQueue"], path: "Examples/GettingStarted"),
        .executableTarget(
            name: "GettingStartedServer",
            dependencies: ["ServerMiddleware", hummingbird],
            path: "Examples/GettingStartedServer"
        ),
        program(
            "holdfast-terminal-app",
            in: "Examples/TerminalApp",
            [
                "AccountContract", "AccountKit", "ErrorContract", "HoldfastURLSession", "OfflineQueue", "OfflineQueueUI",
                "ResilientHTTP", argumentParser, httpTypes,
            ]
        ),
        program(
            "holdfast-notes-app",
            in: "Examples/NotesApp",
            [
                "AccountContract", "AccountServer", "ErrorContract", "Idempotency", "SQLiteStores", "ServerMiddleware",
                argumentParser, grdb, hummingbird, httpTypes, logging, nioCore,
            ]
        ),
        program(
            "holdfast-compared-notes",
            in: "Examples/ComparedNotes",
            [
                "AccountContract", "ErrorContract", "RateLimiting", "ServerMiddleware", argumentParser, hummingbird, httpTypes,
                logging,
                nioCore, nioPosix,
            ]
        ),

        // Modules and programs that only tests use.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: settings),
        .target(
            name: "MailServerTesting",
            dependencies: ["TestSupport"],
            path: "Tests/MailServerTesting",
            exclude: ["smtp_server.py"],
            swiftSettings: settings
        ),
        .target(
            name: "DataServerTesting",
            dependencies: ["TestSupport"],
            path: "Tests/DataServerTesting",
            swiftSettings: settings
        ),
        .target(
            name: "Attacks",
            dependencies: [
                "AccountContract", "AccountKit", "Email", "ErrorContract", "HoldfastAsyncHTTPClient", "PasswordHashes",
                "ResilientHTTP", "TestSupport",
                asyncHTTPClient, httpTypes, nioCore, nioHTTP1, nioPosix, server("NIOFoundationCompat", "swift-nio"),
            ],
            path: "Tests/Attacks",
            swiftSettings: settings
        ),
        program(
            "holdfast-limit-process",
            in: "Tests/LimitProcess",
            ["HoldfastTesting", "RateLimiting", "ValkeyDriver", "ValkeyStores", logging]
        ),
        .target(
            name: "JournalTesting",
            dependencies: ["HoldfastTesting", "OfflineQueue", "PrivateFiles", "TestSupport"],
            path: "Tests/JournalTesting",
            swiftSettings: settings
        ),
        program(
            "holdfast-queue-benchmark",
            in: "Tests/QueueBenchmark",
            ["HoldfastAsyncHTTPClient", "OfflineQueue", "ResilientHTTP", hummingbird, httpTypes, logging, nioCore]
        ),
        program("holdfast-journal-process", in: "Tests/JournalProcess", ["JournalTesting", "OfflineQueue"]),
        program("holdfast-attack", in: "Tests/AttackCommand", ["Attacks", argumentParser]),

        // Tests of the libraries for apps.
        tests("TimekeepingTests", []),
        tests("StrictJSONTests", ["ErrorContract", "StrictJSON", httpTypes]),
        tests("ErrorContractTests", copy: ["Resources"], ["ErrorContract", "StrictJSON", httpTypes]),
        tests("RateLimitingTests", ["RateLimiting"]),
        tests("AccountContractTests", ["AccountContract", "ErrorContract"]),
        tests("ErrorLabContractTests", ["ErrorContract", "ErrorLabContract"]),
        tests(
            "ResilientHTTPTests",
            ["ErrorContract", "HoldfastURLSession", "RateLimiting", "ResilientHTTP", httpTypes, logging]
        ),
        tests(
            "HoldfastURLSessionTests",
            ["AccountKit", "ErrorContract", "HoldfastURLSession", "RateLimiting", "ResilientHTTP", httpTypes, logging]
        ),
        tests(
            "AccountKitTests",
            ["AccountContract", "AccountKit", "ErrorContract", "ErrorLabContract", "ResilientHTTP", httpTypes]
        ),
        tests(
            "OfflineQueueTests",
            [
                "DataServerTesting", "ErrorContract", "JournalTesting", "OfflineQueue", "PrivateFiles", "RateLimiting",
                "ResilientHTTP", "holdfast-journal-process", httpTypes,
            ]
        ),
        tests(
            "OfflineQueueUITests",
            ["AccountKit", "ErrorContract", "JournalTesting", "OfflineQueue", "OfflineQueueUI", "ResilientHTTP", httpTypes]
        ),
        tests("HoldfastTests", ["GettingStarted", "Holdfast"]),
        tests("HoldfastTestingTests", ["ResilientHTTP", httpTypes]),
        // Tests of the examples in the DocC catalogs.
        tests(
            "DocumentationTests",
            [
                "AccountContract", "AccountCore", "AccountImport", "AccountKit", "AccountRoutes", "AppLinks", "ClientMetrics",
                "Email",
                "ErrorContract", "ErrorLabContract", "HoldfastAsyncHTTPClient", "HoldfastURLSession", "Idempotency", "OpenAPI",
                "Observability", "Pages", "PasswordHashes", "RateLimiting", "ResilientHTTP", "SQLiteStores", "ServerMiddleware",
                "StrictJSON",
                hummingbird, httpTypes, logging, metrics,
            ]
        ),
        // Tests of the example app without its views, which need SwiftUI. scripts/check-apple compiles the views.
        .testTarget(
            name: "ExampleAppTests",
            dependencies: ["ErrorLabContract", "Holdfast", "HoldfastTesting", httpTypes],
            path: "Examples/App",
            exclude: [
                "README.md", "project.yml", "Resources", "Sources/Views", "Sources/UIKit", "Sources/Previews",
                "Tests/Snapshots.txt",
            ],
            sources: ["Sources/Model", "Sources/ScreenStates", "Tests"],
            swiftSettings: settings
        ),

        // Tests of the libraries for servers.
        tests("SchedulingTests", ["Scheduling", lifecycle, server("ServiceLifecycleTestKit", "swift-service-lifecycle")]),
        tests(
            "ClientMetricsTests",
            ["ClientMetrics", "ErrorContract", "OfflineQueue", "ResilientHTTP", httpTypes, metrics, metricsTestKit]
        ),
        tests("ObservabilityTests", ["Observability", logging, metrics]),
        tests(
            "TokenVerifierTests",
            ["AccountContract", "TokenVerifier", crypto, server("JWTKit", "jwt-kit")]
        ),
        tests("AppLinksTests", ["AppLinks", "ErrorContract", "StrictJSON"]),
        tests("PasswordHashesTests", ["PasswordHashes"]),
        tests(
            "AccountCoreTests",
            [
                "AccountContract", "AccountCore", "AccountStoreTesting", "Email", "ErrorContract", "Pages", "RateLimiting",
                "ResilientHTTP", "Scheduling", "StrictJSON", "TokenVerifier", crypto, httpTypes, inMemoryLogging, lifecycle,
                logging,
            ]
        ),
        tests("EmailTests", ["AccountContract", "AccountCore", "Email", "ErrorContract", "MailServerTesting"]),
        tests(
            "SQLiteStoresTests",
            [
                "AccountContract", "AccountCore", "AccountStoreTesting", "ErrorContract", "Idempotency", "RateLimiting",
                "SQLiteStores",
                crypto, grdb, httpTypes, inMemoryLogging, lifecycle, logging,
            ]
        ),
        tests("OpenAPITests", ["AccountContract", "ErrorContract", "OpenAPI", "StrictJSON"]),
        tests("PostgresDriverTests", ["DataServerTesting", "PostgresDriver", logging, metrics]),
        tests(
            "PostgresStoresTests",
            [
                "AccountContract", "AccountCore", "AccountStoreTesting", "DataServerTesting", "ErrorContract", "Idempotency",
                "PostgresDriver", "PostgresStores", crypto, logging,
            ]
        ),
        tests(
            "StoreMigrationTests",
            [
                "AccountContract", "AccountCore", "AccountStoreTesting", "DataServerTesting", "ErrorContract", "Idempotency",
                "PostgresDriver", "PostgresStores", "SQLiteStores", "StoreMigration", crypto, grdb, logging,
            ]
        ),
        tests("ValkeyDriverTests", ["DataServerTesting", "ValkeyDriver", logging, nioCore, nioEmbedded, nioPosix]),
        tests(
            "ValkeyStoresTests",
            [
                "AccountStoreTesting", "DataServerTesting", "RateLimiting", "ValkeyDriver", "ValkeyStores",
                "holdfast-limit-process",
                logging,
            ]
        ),
        tests("PagesTests", copy: ["Golden"], ["AccountContract", "AccountCore", "ErrorContract", "OpenAPI", "Pages"]),
        tests(
            "ServerMiddlewareTests",
            [
                "ErrorContract", "Idempotency", "RateLimiting", "ServerMiddleware", "StrictJSON", hummingbird, httpTypes,
                inMemoryLogging,
                logging,
                metrics, metricsTestKit, nioCore, nioEmbedded, nioHTTP1,
            ]
        ),
        tests(
            "HoldfastAsyncHTTPClientTests",
            [
                "ErrorContract", "HoldfastAsyncHTTPClient", "HoldfastURLSession", "ResilientHTTP", httpTypes, nioCore, nioHTTP1,
                nioPosix, nioSSL,
            ]
        ),
        tests(
            "FuzzTests",
            [
                "AccountContract", "AccountCore", "AccountImport", "AccountKit", "AccountRoutes", "AccountServer", "AppLinks",
                "ErrorContract", "Idempotency", "PasswordHashes", "RateLimiting", "ServerMiddleware", "StrictJSON",
                configuration, crypto, hummingbird, httpTypes, logging, metrics, nioCore, nioEmbedded, nioHTTP1, nioHTTPTypes,
                nioHTTPTypesHTTP1,
            ]
        ),
        tests(
            "IntegrationTests",
            in: "Integration",
            exclude: ["Reference/Schemathesis", "Upgrades/Folders"],
            [
                "AccountContract", "AccountCore", "AccountKit", "AccountRoutes", "AccountServer", "AppLinks", "Attacks",
                "DataServerTesting", "Email",
                "ErrorContract", "ErrorLab", "ErrorLabContract", "HoldfastAsyncHTTPClient", "HoldfastCommand",
                "HoldfastURLSession", "Idempotency",
                "MailServerTesting", "OfflineQueue", "OpenAPI", "Pages", "PasswordHashes", "PostgresDriver", "RateLimiting",
                "ResilientHTTP", "SQLiteStores",
                "ServerMiddleware", "StrictJSON", "TokenVerifier", "ValkeyDriver", "holdfast-notes-app", "holdfast-terminal-app",
                asyncHTTPClient, configuration, crypto, grdb, hummingbird, httpTypes, lifecycle, logging, nioCore, nioEmbedded,
                nioPosix,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
