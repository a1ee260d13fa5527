import Foundation
import TestSupport
import Testing

/// Compares the table of `docs/app/errors.md` with the kinds and codes in the sources.
@Suite struct ErrorKindsPageTests {
    /// Returns the values that a source declares as `Self("…")` or `Self(rawValue: "…")`.
    private func declared(in path: String) throws -> [String] {
        let source = try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
        return source.matches(of: #/Self\((?:rawValue: )?"([A-Za-z_]+)"\)/#).map { String($0.1) }
    }

    @Test("The page lists every kind with the code that the client chooses")
    func kinds() throws {
        let page = try String(contentsOf: Repository.root.appending(path: "docs/app/errors.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").compactMap { $0.firstMatch(of: /^\| `([a-zA-Z]+)` \| `([A-Z_]+)/) }
        let kinds = try declared(in: "Sources/Shared/ErrorContract/Client/APIErrorKind.swift")
        let codes = try declared(in: "Sources/Shared/ErrorContract/Codes/ErrorCode+Local.swift")
        #expect(kinds.count >= 19)
        #expect(rows.map { String($0.1) }.sorted() == kinds.sorted())
        #expect(rows.map { String($0.2) }.sorted() == (codes + ["SERVER_ERROR_"]).sorted())
    }
}
