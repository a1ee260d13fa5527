// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "holdfast-server-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: "../.."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.0"),
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
            swiftSettings: [
                .enableUpcomingFeature("ExistentialAny"),
                .enableUpcomingFeature("MemberImportVisibility"),
            ]
        )
    ],
    swiftLanguageModes: [.v6]
)
