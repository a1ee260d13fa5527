import Testing

/// The main function of the test program in CI (docs/decisions/0118). `scripts/test` copies this file to `Tests` for the time of the build.
@main
enum TestProgram {
    static func main() async {
        await Testing.__swiftPMEntryPoint() as Never
    }
}
