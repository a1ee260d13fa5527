// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "holdfast-fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: ".."),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        .executableTarget(
            name: "DecoderFuzz",
            dependencies: [
                .product(name: "ErrorContract", package: "holdfast"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: [.enableUpcomingFeature("MemberImportVisibility")]
        )
    ],
    swiftLanguageModes: [.v6]
)
