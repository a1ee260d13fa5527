// snippet: command-line-manifest
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Lessons",
    platforms: [.macOS(.v15)],
    dependencies: [.package(path: "../holdfast")],
    targets: [
        .executableTarget(name: "Lessons", dependencies: [.product(name: "Holdfast", package: "holdfast")])
    ]
)
// snippet end
