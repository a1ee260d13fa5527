// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "MyApp",
    platforms: [.iOS(.v18), .macOS(.v15)],
    // snippet: readme-dependency-app
    dependencies: [.package(url: "https://example.com/holdfast.git", from: "0.1.0")],
    targets: [
        .executableTarget(name: "MyApp", dependencies: [.product(name: "Holdfast", package: "holdfast")])
    ]
    // snippet end
)
