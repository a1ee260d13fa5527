import ErrorContract
import Foundation
import Testing

/// One row of the published table.
struct PublishedCode: Sendable, CustomTestStringConvertible {
    var code: ErrorCode
    var status: Int
    var summary: String
    var userAction: String
    var testDescription: String { code.rawValue }

    static func all() throws -> [PublishedCode] {
        let url = try #require(Bundle.module.url(forResource: "error-catalogue", withExtension: "csv", subdirectory: "Resources"))
        return try CSVTable.rows(try String(contentsOf: url, encoding: .utf8)).map { row in
            try #require(row.count == 4, "a row has four fields: \(row)")
            return PublishedCode(code: ErrorCode(row[0]), status: try #require(Int(row[1])), summary: row[2], userAction: row[3])
        }
    }
}

@Suite struct PublishedCatalogueTests {
    @Test("A published code has the published status, meaning and user action", arguments: try PublishedCode.all())
    func row(published: PublishedCode) throws {
        let definition = try #require(ErrorCatalogue.standard[published.code])
        #expect(definition.status == published.status)
        #expect(definition.summary == published.summary)
        #expect(definition.userAction == published.userAction)
    }

    @Test("The catalog has the 50 published codes and the server's own, and no other")
    func completeness() throws {
        let published = try PublishedCode.all().map(\.code)
        #expect(published.count == 50)
        let definitions = ErrorCatalogue.standard.definitions
        #expect(definitions.count == published.count + ContractTable.own.count)
        #expect(Set(definitions.map(\.code)) == Set(published).union(ContractTable.own.keys))
        for (code, status) in ContractTable.own { #expect(ErrorCatalogue.standard[code]?.status == status) }
    }

    @Test("The codes of a family keep the order of the published table")
    func order() throws {
        let published = try PublishedCode.all().map(\.code)
        let known = Set(published)
        #expect(ErrorCatalogue.standard.definitions.map(\.code).filter(known.contains) == published)
    }

    @Test("Reads the table as CSV: quotes, doubled quotes, commas and line ends in quotes")
    func csv() {
        let rows = CSVTable.rows("a,b\r\n1,\"x, \"\"y\"\"\nz\"\r\n2,\n")
        #expect(rows == [["1", "x, \"y\"\nz"], ["2", ""]])
    }
}
