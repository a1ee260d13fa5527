import Foundation
import PostgresDriver
import Testing

@Suite struct ValueTests {
    @Test("Reads a column as the requested type, or refuses it")
    func columns() throws {
        let row = PostgresRow(columns: [[0, 0, 0, 0, 0, 0, 1, 0], [1], nil, Array("Ana".utf8), [0xFF]])
        #expect(try row.value(0) as Int == 256)
        #expect(try row.value(1) as Bool)
        #expect(try row.value(2) as String? == nil)
        #expect(try row.value(3) as String? == "Ana")
        #expect(throws: UnreadableColumn(column: 2)) { try row.value(2) as String }
        #expect(throws: UnreadableColumn(column: 4)) { try row.value(4) as String? }
        #expect(throws: UnreadableColumn(column: 5)) { try row.value(5) as Int? }
    }
}
