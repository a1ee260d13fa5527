/// Which way a text runs. Described by its name in HTML: `ltr` or `rtl`.
public enum TextDirection: String, Hashable, Sendable, CustomStringConvertible {
    /// Latin and most other scripts.
    case leftToRight = "ltr"
    /// Hebrew and Arabic.
    case rightToLeft = "rtl"

    /// The direction of the first letter that has one (UAX #9, rule P2); `nil` if none has, as in `42`.
    public init?(of text: some StringProtocol) {
        for scalar in text.unicodeScalars {
            if scalar.isRightToLeft {
                self = .rightToLeft
                return
            }
            if scalar.properties.isAlphabetic {
                self = .leftToRight
                return
            }
        }
        return nil
    }

    /// The name in HTML.
    public var description: String { rawValue }
}

extension Language {
    /// Whether the language is written from right to left: by the script that the tag names, else by the one that is usual.
    public var isRightToLeft: Bool { direction == .rightToLeft }

    /// Which way the language is written.
    public var direction: TextDirection {
        // What follows a single character is an extension or private (RFC 5646 §2.2).
        let subtags = rawValue.split(separator: "-").prefix { $0.count != 1 }.dropFirst()
        let script = subtags.first { $0.count == 4 && $0.first?.isLetter == true }
        if let script { return Self.rightToLeftScripts.contains(String(script)) ? .rightToLeft : .leftToRight }
        return Self.rightToLeftLanguages.contains(String(primary)) ? .rightToLeft : .leftToRight
    }

    private static let rightToLeftScripts: Set<String> = [
        "arab", "aran", "hebr", "syrc", "thaa", "nkoo", "adlm", "rohg", "mand", "samr",
    ]
    private static let rightToLeftLanguages: Set<String> = [
        "ar", "he", "fa", "ur", "yi", "ps", "sd", "ug", "dv", "ckb", "ks", "prs", "azb", "pnb", "nqo", "syr", "arc", "rhg",
    ]
}

extension Unicode.Scalar {
    /// Whether the scalar is of a script that runs from right to left: the blocks whose bidirectional class is R or AL, or that
    /// are kept for such (UAX #9).
    var isRightToLeft: Bool {
        switch value {
        case 0x0590...0x08FF, 0xFB1D...0xFDFF, 0xFE70...0xFEFE, 0x10800...0x10FFF, 0x1E800...0x1EFFF: true
        default: false
        }
    }

    /// Whether the scalar only steers the direction of what stands around it.
    var isDirectionControl: Bool {
        switch value {
        case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
