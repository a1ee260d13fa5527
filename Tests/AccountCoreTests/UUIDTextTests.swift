import AccountCore
import Foundation
import Testing

@Suite struct UUIDTextTests {
    @Test("Writes and reads a UUID like Foundation, in lowercase")
    func roundTrip() {
        for _ in 0..<1_000 {
            let id = UUID()
            #expect(id.text == id.uuidString.lowercased())
            #expect(UUID(text: id.text) == id)
            #expect(UUID(text: id.uuidString) == id)
        }
    }

    @Test(
        "Refuses a text that is not a UUID",
        arguments: [
            "", "-", "00000000-0000-4000-8000-00000000000", "00000000-0000-4000-8000-0000000000000",
            "00000000-0000-4000-8000-00000000000g", "000000000-000-4000-8000-000000000000", "00000000000040008000000000000000",
            "00000000-0000-4000-8000-0000000000\u{E9}", " 0000000-0000-4000-8000-000000000000",
        ]
    )
    func refused(text: String) {
        #expect(UUID(text: text) == nil)
    }
}
