// swift-tools-version: 6.2
import PackageDescription

private let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
private let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
private let nio = ["NIOCore", "NIOHTTP1", "NIOPosix"].map { Target.Dependency.product(name: $0, package: "swift-nio") }

private func holdfast(_ names: String...) -> [Target.Dependency] {
    names.map { .product(name: $0, package: "holdfast") }
}

/// Returns the target with the benchmarks of one area, in the folder of that name, for the package Benchmark.
private func area(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(
        name: "\(name)Benchmarks",
        dependencies: [.product(name: "Benchmark", package: "benchmark"), httpTypes] + dependencies,
        path: "Benchmarks/\(name)",
        swiftSettings: settings,
        plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
    )
}

let package = Package(
    name: "holdfast-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: "..", traits: ["Server"]),
        // Without traits: its interposers for malloc and for the runtime are separate packages.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
    ],
    targets: [
        .systemLibrary(name: "CMalloc", path: "CMalloc"),
        .target(name: "CAllocations", path: "CAllocations"),
        area("Decoder", holdfast("ErrorContract", "ResilientHTTP")),
        area("Limiter", holdfast("RateLimiting") + ["CMalloc"]),
        area("Client", holdfast("HoldfastURLSession", "RateLimiting", "ResilientHTTP")),
        .executableTarget(
            name: "LimiterRunner",
            dependencies: holdfast("RateLimiting", "HoldfastTesting"),
            path: "Comparison/Limiters",
            exclude: ["compare.py", "runner.py", "runner.go"]
        ),
        .executableTarget(
            name: "brown-out",
            dependencies: holdfast("HoldfastTesting", "ResilientHTTP", "Timekeeping") + nio + [httpTypes],
            path: "BrownOut",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-client",
            dependencies: holdfast("HoldfastAsyncHTTPClient", "HoldfastURLSession", "ResilientHTTP") + nio + [
                "CAllocations", httpTypes,
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
            ],
            path: "ClientCost",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-middleware",
            dependencies: holdfast("ErrorContract", "RateLimiting", "SQLiteStores", "ServerMiddleware") + [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "Middleware",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-valkey",
            dependencies: holdfast("RateLimiting", "ValkeyDriver", "ValkeyStores") + [
                .product(name: "Logging", package: "swift-log")
            ],
            path: "Valkey",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-tokens",
            dependencies: holdfast("AccountContract", "AccountCore", "ErrorContract", "TokenVerifier") + [
                .product(name: "Crypto", package: "swift-crypto")
            ],
            path: "Tokens",
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
