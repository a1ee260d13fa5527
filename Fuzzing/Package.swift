// swift-tools-version: 6.2
import PackageDescription

/// SwiftPM's name of the parent package: the name of its folder.
let packageAbove: String = {
    let folders = Context.packageDirectory.split(separator: "/")
    return folders.dropLast().last.map { String($0.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" }) } ?? ""
}()

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
    // Gives the fuzzer access to `package` declarations of the parent package.
    .unsafeFlags(["-package-name", packageAbove]),
]

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
        "AccountServer",
        "AppLinks",
        "ErrorContract",
        "Observability",
        "PasswordHashes",
        "RateLimiting",
        "ServerMiddleware",
        "StrictJSON",
        "Timekeeping"
    ) + [
        .product(name: "Configuration", package: "swift-configuration"),
        .product(name: "CoreMetrics", package: "swift-metrics"),
        .product(name: "Crypto", package: "swift-crypto"),
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
        .package(url: "https://github.com/apple/swift-configuration", from: "1.4.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.0.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
    ],
    targets: [
        .executableTarget(name: "Fuzz", dependencies: common + nio + nioHTTPTypes, swiftSettings: settings)
    ],
    swiftLanguageModes: [.v6]
)
