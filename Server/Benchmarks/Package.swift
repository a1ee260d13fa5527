// swift-tools-version: 6.2
import PackageDescription

private let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "holdfast-server-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: "../.."),
        .package(name: "holdfast-server", path: ".."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.30.0"),
    ],
    targets: [
        .executableTarget(
            name: "brown-out",
            dependencies: [
                .product(name: "HoldfastTesting", package: "holdfast"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ResilientHTTP", package: "holdfast"),
            ],
            path: "BrownOut",
            swiftSettings: settings
        ),
        .target(name: "CAllocations", path: "CAllocations"),
        .executableTarget(
            name: "bench-client",
            dependencies: [
                "CAllocations",
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "HoldfastAsyncHTTPClient", package: "holdfast-server"),
                .product(name: "HoldfastURLSession", package: "holdfast"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOHTTPCompression", package: "swift-nio-extras"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ResilientHTTP", package: "holdfast"),
            ],
            path: "Client",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "bench-middleware",
            dependencies: [
                .product(name: "ErrorContract", package: "holdfast"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "RateLimiting", package: "holdfast"),
                .product(name: "SQLiteStores", package: "holdfast-server"),
                .product(name: "ServerMiddleware", package: "holdfast-server"),
            ],
            path: "Middleware",
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
