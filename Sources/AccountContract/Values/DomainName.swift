import Foundation

/// Internet domain names in the form in which they are looked up.
enum DomainName {
    /// The name in lower-case ASCII, labels beyond ASCII in punycode, or `nil` if it is not a name with at least two labels
    /// and an alphabetic top-level label of 2–63.
    static func ascii(_ name: String) -> String? {
        let folded = name.lowercased().precomposedStringWithCompatibilityMapping
        var labels: [String] = []
        for label in folded.split(separator: ".", omittingEmptySubsequences: false) {
            guard let ascii = asciiLabel(String(label)) else { return nil }
            labels.append(ascii)
        }
        guard labels.count >= 2, let top = labels.last, top.utf8.count >= 2,
            top.hasPrefix("xn--") || top.utf8.allSatisfy({ (0x61...0x7A).contains($0) })
        else { return nil }
        let text = labels.joined(separator: ".")
        return text.utf8.count <= 253 ? text : nil
    }

    private static func asciiLabel(_ label: String) -> String? {
        guard label.unicodeScalars.first != "-", label.unicodeScalars.last != "-", !label.isEmpty,
            label.unicodeScalars.allSatisfy({
                $0 == "-" || $0.properties.isAlphabetic || $0.properties.numericType != nil || isMark($0)
            })
        else { return nil }
        let isASCII = label.utf8.allSatisfy { $0 < 0x80 }
        guard let ascii = isASCII ? label : Punycode.encode(label).map({ "xn--" + $0 }) else { return nil }
        return ascii.utf8.count <= 63 ? ascii : nil
    }

    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }
}
