/// How a path becomes a template when none was registered for it: what looks like an id gives way to `{id}`.
enum PathFolding {
    /// The most segments that are told apart; what follows becomes `{rest}`.
    static let maximumSegments = 16
    /// The longest segment that can be a word, in bytes.
    static let longestWord = 64

    /// The segments of a path: without query and empty segments, characters that need no escape unescaped.
    static func segments(of path: some StringProtocol) -> [String] {
        let end = path.firstIndex { $0 == "?" || $0 == "#" } ?? path.endIndex
        return path[..<end].split(separator: "/").map { unescaped($0) }
    }

    /// The template of a path.
    static func template(of segments: [String]) -> RouteTemplate {
        let folded = segments.prefix(maximumSegments).map { isIdentifier($0) ? "{id}" : $0 }
        return RouteTemplate(segments: segments.count > maximumSegments ? folded + ["{rest}"] : folded)
    }

    /// Whether a segment is an id rather than a word: digits, a UUID, sixteen or more hexadecimal digits, a long mixture of letters
    /// and digits, an address with `@`, or anything that is too long or odd to be a word.
    static func isIdentifier(_ segment: String) -> Bool {
        let bytes = Array(segment.utf8)
        guard bytes.count <= longestWord else { return true }
        if bytes.contains(where: { "@{}".utf8.contains($0) || !(0x21...0x7E).contains($0) }) || segment.contains("%40") {
            return true
        }
        let digits = bytes.count(where: isDigit)
        if digits == bytes.count { return true }
        guard bytes.count >= 16 else { return false }
        let plain = bytes.filter { $0 != UInt8(ascii: "-") }
        if plain.count >= 16, plain.allSatisfy(isHexadecimal) { return true }
        guard digits > 0, bytes.allSatisfy({ isDigit($0) || isLetter($0) || "-_=.~".utf8.contains($0) }) else { return false }
        let upper = bytes.contains { (0x41...0x5A).contains($0) }
        let lower = bytes.contains { (0x61...0x7A).contains($0) }
        // Words may be joined and end in a year; ids of one case have no joints.
        return upper && lower || bytes.count >= 20 && bytes.allSatisfy { isDigit($0) || isLetter($0) }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte & 0xDF) }
    private static func isHexadecimal(_ byte: UInt8) -> Bool { isDigit(byte) || (0x41...0x46).contains(byte & 0xDF) }

    /// Undoes escapes of letters, digits and `-._~`, which mean the same with and without (RFC 3986 §2.3).
    private static func unescaped(_ segment: some StringProtocol) -> String {
        guard segment.utf8.contains(UInt8(ascii: "%")) else { return String(segment) }
        var (bytes, plain) = (Array(segment.utf8)[...], [UInt8]())
        while let byte = bytes.popFirst() {
            let pair = bytes.prefix(2)
            guard byte == UInt8(ascii: "%"), pair.count == 2, pair.allSatisfy(isHexadecimal),
                let value = UInt8(String(decoding: pair, as: UTF8.self), radix: 16),
                isDigit(value) || isLetter(value) || "-._~".utf8.contains(value)
            else {
                plain.append(byte)
                continue
            }
            plain.append(value)
            bytes = bytes.dropFirst(2)
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
