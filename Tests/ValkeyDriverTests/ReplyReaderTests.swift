import Testing

@testable import ValkeyDriver

@Suite struct ReplyReaderTests {
    private static let wire = Array(
        "+OK\r\n:-42\r\n$5\r\na\r\nb\0\r\n$-1\r\n-NOSCRIPT No such script\r\n*3\r\n$0\r\n\r\n*2\r\n:1\r\n$1\r\nx\r\n*-1\r\n".utf8
    )
    private static let replies: [ValkeyReply] = [
        .text(Array("OK".utf8)), .integer(-42), .text(Array("a\r\nb\0".utf8)), .null, .error("NOSCRIPT No such script"),
        .array([.text([]), .array([.integer(1), .text(Array("x".utf8))]), .null]),
    ]

    private func read(_ pieces: [ArraySlice<UInt8>], mostBytes: Int = 1 << 20) throws -> [ValkeyReply] {
        let reader = ReplyReader(mostBytes: mostBytes)
        var replies: [ValkeyReply] = []
        for piece in pieces {
            try piece.withUnsafeBytes { bytes in try reader.feed(bytes) }
            while let reply = try reader.next() { replies.append(reply) }
        }
        return replies
    }

    @Test("Decodes replies that are split at every byte")
    func splits() throws {
        for place in Self.wire.indices {
            #expect(try read([Self.wire[..<place], Self.wire[place...]]) == Self.replies, "split at \(place)")
        }
        #expect(try read(Self.wire.indices.map { Self.wire[$0...$0] }) == Self.replies)
    }

    @Test(
        "Refuses bytes that are not a reply",
        arguments: ["HTTP/1.1 200 OK\r\n", "*70000\r\n", "*4294967295\r\n", "$-7\r\n", String(repeating: "*1\r\n", count: 20)]
    )
    func invalid(text: String) {
        #expect(throws: ValkeyError.protocolViolation) { try read([Array(text.utf8)[...]]) }
    }

    @Test("Refuses a reply larger than the bound, and counts each reply separately")
    func bound() throws {
        let small = Array("$40\r\n\(String(repeating: "x", count: 40))\r\n".utf8)
        let many = Array(repeatElement(small, count: 100).joined())
        #expect(
            try read(stride(from: 0, to: many.count, by: 7).map { many[$0..<min($0 + 7, many.count)] }, mostBytes: 64).count
                == 100
        )
        let large = Array("$100\r\n\(String(repeating: "x", count: 90))".utf8)
        #expect(throws: ValkeyError.protocolViolation) { try read(large.map { [$0][...] }, mostBytes: 64) }
        let nested = Array("*1000\r\n\(String(repeating: ":1\r\n", count: 900))".utf8)
        #expect(throws: ValkeyError.protocolViolation) { try read(nested.map { [$0][...] }, mostBytes: 2_000) }
    }

    @Test("Encodes any bytes as arguments, and empty ones")
    func commands() {
        var command = ValkeyCommand("SET", "")
        command.append([0, 13, 10, 255])
        #expect(command.encoded() == Array("*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n".utf8) + [0, 13, 10, 255, 13, 10])
        #expect(ValkeyCommand("").encoded() == Array("*1\r\n$0\r\n\r\n".utf8))
    }
}
