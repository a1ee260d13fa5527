import Testing

@testable import OfflineQueue

@Suite struct CRC32CTests {
    private func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var crc = CRC32C()
        Array(bytes).withUnsafeBytes { crc.update($0) }
        return crc.value
    }

    @Test("Computes the checksums of RFC 3720") func knownValues() {
        #expect(checksum("123456789".utf8) == 0xE306_9283)
        #expect(checksum(repeatElement(0, count: 32)) == 0x8A91_36AA)
        #expect(checksum(repeatElement(0xFF, count: 32)) == 0x62A8_AB43)
        #expect(checksum(0..<32) == 0x46DD_794E)
        #expect(checksum([]) == 0)
    }

    @Test("Computes the same checksum of any parts") func parts() {
        let bytes = (0..<100).map { UInt8($0 * 7 % 256) }
        for middle in 0...100 {
            var crc = CRC32C()
            bytes[..<middle].withUnsafeBytes { crc.update($0) }
            bytes[middle...].withUnsafeBytes { crc.update($0) }
            #expect(crc.value == checksum(bytes))
        }
    }
}
