// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    // What the package above shares among its modules is shared with the fuzzer. SwiftPM names a package after its folder.
    .unsafeFlags(["-package-name", packageAbove]),
]

let packageAbove: String = {
    let folders = Context.packageDirectory.split(separator: "/")
    return folders.dropLast().last.map { String($0.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }) } ?? ""
}()

func holdfast(_ names: String...) -> [Target.Dependency] { names.map { .product(name: $0, package: "holdfast") } }
let nio = ["NIOCore", "NIOEmbedded", "NIOHTTP1"].map { Target.Dependency.product(name: $0, package: "swift-nio") }
let nioHTTPTypes = ["NIOHTTPTypes", "NIOHTTPTypesHTTP1"].map { Target.Dependency.product(name: $0, package: "swift-nio-extras") }
let common: [Target.Dependency] =
    holdfast(
        "AccountContract",
        "AccountCore",
        "AccountImport",
        "AccountKit",
        "AccountRoutes",
        "AppLinks",
        "ErrorContract",
        "Observability",
        "OpenAPI",
        "PasswordHashes",
        "RateLimiting",
        "ServerMiddleware",
        "StrictJSON",
        "Timekeeping"
    ) + [
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
    ]

let package = Package(
    name: "holdfast-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: "..", traits: ["Server"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        // The sources of the command `holdfast` as a library (Sources/ServerProgram is a link to them): an executable can't be imported.
        .target(
            name: "ServerProgram",
            dependencies: common + nio
                + holdfast(
                    "Email",
                    "ErrorLab",
                    "ErrorLabContract",
                    "HoldfastURLSession",
                    "Idempotency",
                    "Pages",
                    "ResilientHTTP",
                    "SQLiteStores"
                ) + [
                    .product(name: "ArgumentParser", package: "swift-argument-parser"),
                    .product(name: "Crypto", package: "swift-crypto"),
                    .product(name: "HummingbirdCore", package: "hummingbird"),
                    .product(name: "HummingbirdTLS", package: "hummingbird"),
                    .product(name: "NIOSSL", package: "swift-nio-ssl"),
                    .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                    .product(name: "SystemPackage", package: "swift-system"),
                    .product(name: "UnixSignals", package: "swift-service-lifecycle"),
                ],
            // Its `@main` must not be that of the fuzzer.
            swiftSettings: settings + [
                .unsafeFlags(["-Xfrontend", "-entry-point-function-name", "-Xfrontend", "holdfast_main"])
            ]
        ),
        .executableTarget(name: "Fuzz", dependencies: ["ServerProgram"] + common + nio + nioHTTPTypes, swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
