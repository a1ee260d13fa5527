// snippet: readme-dependency-server
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "MyServer",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://example.com/holdfast.git", from: "0.1.0", traits: ["Server"]),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
    ],
    targets: [
        .executableTarget(
            name: "MyServer",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "AccountServer", package: "holdfast"),
                .product(name: "ServerMiddleware", package: "holdfast"),
            ]
        )
    ]
)
// snippet end
