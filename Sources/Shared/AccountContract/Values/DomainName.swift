import Foundation

/// Internet domain names in the form in which they are looked up.
enum DomainName {
    /// The name in lower-case ASCII, labels beyond ASCII in punycode, or `nil` if it is not a name with at least two labels
    /// and an alphabetic top-level label of 2–63.
    static func ascii(_ name: String) -> String? {
        var labels: [String] = []
        for label in folded(name).split(separator: ".", omittingEmptySubsequences: false) {
            guard let ascii = asciiLabel(String(label)) else { return nil }
            labels.append(ascii)
        }
        guard labels.count >= 2, let top = labels.last, top.utf8.count >= 2,
            top.hasPrefix("xn--") || top.utf8.allSatisfy({ (0x61...0x7A).contains($0) })
        else { return nil }
        let text = labels.joined(separator: ".")
        return text.utf8.count <= 253 ? text : nil
    }

    /// Composed first: what is a capital only behind a compatibility mapping is lowered too, so that folding twice changes nothing.
    private static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        return text.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCompatibilityMapping
    }

    private static func asciiLabel(_ label: String) -> String? {
        let isASCII = label.utf8.allSatisfy { $0 < 0x80 }
        guard label.utf8.first != UInt8(ascii: "-"), label.utf8.last != UInt8(ascii: "-"), !label.isEmpty,
            isASCII ? label.utf8.allSatisfy(isPlain) : label.unicodeScalars.allSatisfy(isPart)
        else { return nil }
        guard !isASCII || !label.hasPrefix("xn--") || isPunycode(label) else { return nil }
        guard let ascii = isASCII ? label : Punycode.encode(label).map({ "xn--" + $0 }) else { return nil }
        return ascii.utf8.count <= 63 ? ascii : nil
    }

    /// Whether a label that begins with `xn--` is one that we would write, so that nobody brings in by punycode what is refused in
    /// clear, or a second spelling of a name.
    private static func isPunycode(_ label: String) -> Bool {
        guard let text = Punycode.decode(String(label.dropFirst(4))), text.utf8.contains(where: { $0 >= 0x80 }) else {
            return false
        }
        return asciiLabel(folded(text)) == label
    }

    /// Letters, digits and `-`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
        default: false
        }
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "-" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil || isMark(scalar)
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }
}
