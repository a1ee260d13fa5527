/// An application identifier in the format of association files: `<Application Identifier Prefix>.<Bundle Identifier>`.
///
/// ```swift
/// let app = try AppIdentifier("ABCDE12345.com.example.notes")
/// print(app.prefix, app.bundleID)  // ABCDE12345 com.example.notes
/// ```
///
/// See Apple, "applinks.Details". The prefix is the team identifier, or for some old apps an individual prefix. Each prefix has ten capital
/// letters and digits. A bundle identifier has letters, digits, hyphens and periods (Apple, "CFBundleIdentifier").
///
/// The type checks only the format, not whether the app exists. ``AndroidPackage`` is the equivalent for Android.
public struct AppIdentifier: Hashable, Sendable, CustomStringConvertible {
    /// The ten characters before the first dot, usually the identifier of the developer's team.
    public let prefix: String
    /// The bundle identifier, which is everything after the first dot.
    public let bundleID: String

    /// The identifier in the format of the file.
    public var description: String { "\(prefix).\(bundleID)" }

    /// Parses an identifier. Identifiers are case-sensitive, so the parser keeps the case.
    /// - Parameter text: The identifier, without spaces.
    /// - Throws: ``AppLinksError`` with the code ``AppLinksError/Code/badAppPrefix`` or ``AppLinksError/Code/badBundleID``.
    public init(_ text: String) throws(AppLinksError) {
        let bytes = Array(text.utf8)
        let head = bytes.prefix { $0 != UInt8(ascii: ".") }
        guard head.count == 10, head.allSatisfy({ $0.isCapital || $0.isDigit }) else {
            throw AppLinksError(
                code: .badAppPrefix,
                message:
                    "\"\(text)\" must begin with a prefix of ten capital letters and digits, as in ABCDE12345.com.example.app."
            )
        }
        let segments = bytes.dropFirst(head.count + 1)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let isBundle = segments.allSatisfy { segment in
            !segment.isEmpty && segment.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") }
        }
        guard isBundle, bytes.count > head.count + 1 else {
            throw AppLinksError(
                code: .badBundleID,
                message:
                    "\"\(text)\" must have a bundle identifier of letters, digits, hyphens and periods after the prefix."
            )
        }
        prefix = String(decoding: head, as: UTF8.self)
        bundleID = String(decoding: bytes.dropFirst(head.count + 1), as: UTF8.self)
    }
}

extension UInt8 {
    /// Whether the byte is a capital letter in ASCII.
    var isCapital: Bool { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) }
    /// Whether the byte is a small letter in ASCII.
    var isSmall: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
    /// Whether the byte is a letter in ASCII.
    var isLetter: Bool { isCapital || isSmall }
    /// Whether the byte is a digit in ASCII.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }

    /// The value of the byte as a hexadecimal digit, 0 to 15; `nil` for any other byte.
    var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}
