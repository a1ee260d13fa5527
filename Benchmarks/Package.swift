// swift-tools-version: 6.2
import PackageDescription

/// The benchmarks of one area; they stand in a folder of that name.
func area(_ name: String, dependencies: [String], targets: [Target.Dependency] = []) -> Target {
    .executableTarget(
        name: "\(name)Benchmarks",
        dependencies: [
            .product(name: "Benchmark", package: "benchmark"),
            .product(name: "HTTPTypes", package: "swift-http-types"),
        ] + dependencies.map { .product(name: $0, package: "holdfast") } + targets,
        path: "Benchmarks/\(name)",
        swiftSettings: [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ],
        plugins: [.plugin(name: "BenchmarkPlugin", package: "benchmark")]
    )
}

let package = Package(
    name: "holdfast-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(name: "holdfast", path: ".."),
        // Without traits: its interposers for malloc and for the runtime are packages of their own.
        .package(url: "https://github.com/ordo-one/benchmark", from: "1.38.1", traits: []),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    ],
    targets: [
        area("Decoder", dependencies: ["ErrorContract", "ResilientHTTP"]),
        .systemLibrary(name: "CMalloc", path: "CMalloc"),
        area("Limiter", dependencies: ["RateLimiting"], targets: ["CMalloc"]),
        .executableTarget(
            name: "LimiterRunner",
            dependencies: [
                .product(name: "RateLimiting", package: "holdfast"),
                .product(name: "HoldfastTesting", package: "holdfast"),
            ],
            path: "Comparison/Limiters",
            exclude: ["compare.py", "runner.py", "runner.go"]
        ),
        area("Client", dependencies: ["HoldfastURLSession", "RateLimiting", "ResilientHTTP"]),
    ],
    swiftLanguageModes: [.v6]
)
