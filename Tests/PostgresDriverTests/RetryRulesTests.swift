import Testing

@testable import PostgresDriver

@Suite struct RetryRulesTests {
    @Test(
        "An SQLSTATE decides whether a transaction is repeated",
        arguments: [
            ("40001", RetryVerdict.again(.conflict), RetryVerdict.again(.conflict)),
            ("40P01", .again(.conflict), .again(.conflict)),
            ("57P01", .again(.connection), .again(.unknownOutcome)),
            ("57P03", .again(.connection), .again(.unknownOutcome)),
            ("08006", .again(.connection), .again(.unknownOutcome)),
            ("08P01", .stop(.refused("08P01")), .stop(.refused("08P01"))),
            ("40003", .again(.connection), .again(.unknownOutcome)),
            ("25006", .again(.connection), .again(.connection)),
            ("0A000", .again(.changedPlan), .again(.changedPlan)),
            ("55P03", .stop(.refused("55P03")), .stop(.refused("55P03"))),
            ("57014", .stop(.refused("57014")), .stop(.refused("57014"))),
            ("53100", .stop(.refused("53100")), .stop(.refused("53100"))),
            ("23505", .stop(.refused("23505")), .stop(.refused("23505"))),
            ("42601", .stop(.refused("42601")), .stop(.refused("42601"))),
        ]
    )
    func states(state: String, before: RetryVerdict, during: RetryVerdict) {
        #expect(DriverFailure.refused(state).verdict(mayHaveCommitted: false) == before)
        #expect(DriverFailure.refused(state).verdict(mayHaveCommitted: true) == during)
    }

    @Test("A lost connection, a deadline or a cancellation makes a commit's outcome unknown")
    func losses() {
        #expect(DriverFailure.lost(sqlState: nil).verdict(mayHaveCommitted: false) == .again(.connection))
        #expect(DriverFailure.lost(sqlState: nil).verdict(mayHaveCommitted: true) == .again(.unknownOutcome))
        #expect(DriverFailure.deadline.verdict(mayHaveCommitted: false) == .stop(.deadlineExceeded))
        #expect(DriverFailure.deadline.verdict(mayHaveCommitted: true) == .again(.unknownOutcome))
        #expect(DriverFailure.cancelled(wasSent: true).verdict(mayHaveCommitted: true) == .stop(.outcomeUnknown))
        #expect(DriverFailure.cancelled(wasSent: false).verdict(mayHaveCommitted: true) == .cancelled)
        #expect(DriverFailure.noConnection("x").verdict(mayHaveCommitted: true) == .stop(.unavailable("x")))
    }

    @Test("Repeats a conflict 5 times, a changed plan once, a lost connection with delays")
    func counts() {
        var count = RetryCount()
        for _ in 0..<5 { #expect(count.delay(.conflict) != nil) }
        #expect(count.delay(.conflict) == nil)
        #expect(count.delay(.changedPlan) == .zero)
        #expect(count.delay(.changedPlan) == nil)
        #expect((0..<7).map { _ in count.delay(.connection) } == [20, 40, 80, 160, 320, 500, 500].map { .milliseconds($0) })
        #expect(!count.isUnknown)
        _ = count.delay(.unknownOutcome)
        #expect(count.isUnknown)
    }

    @Test(
        "Only statements that begin with a read-only keyword are reads",
        arguments: [
            ("SELECT 1", true), ("  select 1", true), ("(SELECT 1) UNION SELECT 2", true), ("SHOW x", true),
            ("WITH a AS (INSERT INTO t VALUES (1)) SELECT 1", false), ("UPDATE t SET n = 1", false), ("SELECTED", false),
        ] as [(PostgresStatement, Bool)]
    )
    func reading(statement: PostgresStatement, isReadOnly: Bool) {
        #expect(statement.isReadOnly == isReadOnly)
    }

    @Test("Prepares a statement once per combination of types, and NULL fits every type")
    func preparedNames() {
        var prepared = PreparedStatements()
        let statement: PostgresStatement = "SELECT $1, $2"
        let first = prepared.name(of: statement, [20, 25])
        #expect(first?.name == "h1")
        #expect(prepared.name(of: statement, [20, 25])?.name == "h2", "a preparation that failed is not repeated under its name")
        if let key = first?.key { prepared.insert(key, name: "h1") }
        for types: [UInt32] in [[20, 25], [0, 25], [0, 0]] {
            let known = prepared.name(of: statement, types)
            #expect(known?.name == "h1" && known?.key == nil)
        }
        #expect(prepared.name(of: statement, [20, 20])?.key != nil)
        prepared.removeAll()
        #expect(prepared.name(of: statement, [20, 25])?.key != nil)
    }
}
