// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InferIsolatedConformances"),
    .enableUpcomingFeature("ImmutableWeakCaptures"),
]

let package = Package(
    name: "holdfast",
    platforms: [.iOS(.v18), .macOS(.v15), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "Holdfast", targets: ["Holdfast"]),
        .library(name: "ErrorContract", targets: ["ErrorContract"]),
        .library(name: "RateLimiting", targets: ["RateLimiting"]),
        .library(name: "ResilientHTTP", targets: ["ResilientHTTP"]),
        .library(name: "HoldfastURLSession", targets: ["HoldfastURLSession"]),
        .library(name: "AccountContract", targets: ["AccountContract"]),
        .library(name: "AccountKit", targets: ["AccountKit"]),
        .library(name: "AccountUI", targets: ["AccountUI"]),
        .library(name: "ErrorLabContract", targets: ["ErrorLabContract"]),
        .library(name: "HoldfastTesting", targets: ["HoldfastTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
    ],
    targets: [
        .target(
            name: "Holdfast",
            dependencies: [
                "ErrorContract", "RateLimiting", "ResilientHTTP", "HoldfastURLSession", "AccountContract", "AccountKit",
                "AccountUI",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "ErrorContract",
            dependencies: [.product(name: "HTTPTypes", package: "swift-http-types")],
            swiftSettings: settings
        ),
        .target(name: "RateLimiting", swiftSettings: settings),
        .target(
            name: "ResilientHTTP",
            dependencies: [
                "ErrorContract", "RateLimiting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "HoldfastURLSession",
            dependencies: [
                "ResilientHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .target(name: "AccountContract", dependencies: ["ErrorContract"], swiftSettings: settings),
        .target(name: "ErrorLabContract", dependencies: ["ErrorContract"], swiftSettings: settings),
        .target(
            name: "AccountKit",
            dependencies: [
                "AccountContract", "ErrorContract", "ErrorLabContract", "ResilientHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .target(
            name: "AccountUI",
            dependencies: ["AccountKit", "AccountContract", "ErrorContract", "ErrorLabContract"],
            swiftSettings: settings
        ),
        .target(
            name: "HoldfastTesting",
            dependencies: [
                "ResilientHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(name: "GettingStarted", dependencies: ["Holdfast"], path: "Examples/GettingStarted"),
        .testTarget(
            name: "HoldfastTests",
            dependencies: ["Holdfast", "HoldfastTesting", "GettingStarted"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrorContractTests",
            dependencies: ["HoldfastTesting", "ErrorContract", .product(name: "HTTPTypes", package: "swift-http-types")],
            resources: [.copy("Resources")],
            swiftSettings: settings
        ),
        .testTarget(
            name: "RateLimitingTests",
            dependencies: ["RateLimiting", "HoldfastTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ResilientHTTPTests",
            dependencies: [
                "ResilientHTTP", "HoldfastURLSession", "RateLimiting", "ErrorContract", "HoldfastTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "HoldfastURLSessionTests",
            dependencies: [
                "HoldfastURLSession", "ResilientHTTP", "AccountKit", "ErrorContract", "RateLimiting", "HoldfastTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Logging", package: "swift-log"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AccountContractTests",
            dependencies: ["AccountContract", "ErrorContract", "HoldfastTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "ErrorLabContractTests",
            dependencies: ["ErrorLabContract", "ErrorContract", "HoldfastTesting"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AccountKitTests",
            dependencies: [
                "AccountKit", "AccountContract", "ResilientHTTP", "ErrorContract", "ErrorLabContract", "HoldfastTesting",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
        // The example app without its views: they need SwiftUI, and scripts/check-apple compiles them.
        .testTarget(
            name: "ExampleAppTests",
            dependencies: [
                "Holdfast", "ErrorLabContract", "HoldfastTesting", .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            path: "Examples/App",
            exclude: [
                "README.md", "project.yml", "Resources", "Sources/Views", "Sources/UIKit", "Sources/Previews",
                "Tests/Snapshots.txt",
            ],
            sources: ["Sources/Model", "Sources/ScreenStates", "Tests"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "HoldfastTestingTests",
            dependencies: [
                "HoldfastTesting", "ResilientHTTP",
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6]
)
