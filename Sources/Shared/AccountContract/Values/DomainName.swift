import Foundation

/// Validates Internet domain names, and converts them to the form for DNS lookups.
enum DomainName {
    /// Returns the name in lower-case ASCII; `nil` if it is invalid. Labels with characters outside of ASCII are converted to punycode. A
    /// valid name has at least two labels. Its top-level label consists of 2 to 63 letters, or is punycode.
    ///
    /// A name has at most 253 bytes, and a label at most 63. If the name is a result of this function, the function returns it unchanged.
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

    /// Returns the text in lower case after a compatibility mapping. The mapping comes first, because it can produce capital letters. A
    /// second mapping follows, so that another call doesn't change the result.
    private static func folded(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.lowercased() }
        return text.precomposedStringWithCompatibilityMapping.lowercased().precomposedStringWithCompatibilityMapping
    }

    /// Returns a label in ASCII; `nil` if the label is invalid. A valid label consists of letters, digits, marks and hyphens, and has at
    /// most 63 characters. It doesn't begin or end with a hyphen.
    private static func asciiLabel(_ label: String) -> String? {
        let isASCII = label.utf8.allSatisfy { $0 < 0x80 }
        guard label.utf8.first != UInt8(ascii: "-"), label.utf8.last != UInt8(ascii: "-"), !label.isEmpty,
            isASCII ? label.utf8.allSatisfy(isPlain) : label.unicodeScalars.allSatisfy(isPart)
        else { return nil }
        guard !isASCII || !label.hasPrefix("xn--") || isPunycode(label) else { return nil }
        guard let ascii = isASCII ? label : Punycode.encode(label).map({ "xn--" + $0 }) else { return nil }
        return ascii.utf8.count <= 63 ? ascii : nil
    }

    /// Returns whether a label that begins with `xn--` is valid punycode in its canonical form. The result is `false` if the decoded label
    /// is invalid, or if encoding it again returns another text.
    private static func isPunycode(_ label: String) -> Bool {
        guard let text = Punycode.decode(String(label.dropFirst(4))), text.utf8.contains(where: { $0 >= 0x80 }) else {
            return false
        }
        return asciiLabel(folded(text)) == label
    }

    /// Returns whether a byte is an ASCII letter, a digit or `-`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
        default: false
        }
    }

    /// Returns whether a character is a letter, digit or mark of any script, or `-`.
    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "-" || scalar.properties.isAlphabetic || scalar.properties.numericType != nil || isMark(scalar)
    }

    /// Returns whether a character is a mark that combines with the preceding letter.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .spacingMark: true
        default: false
        }
    }
}

/// Punycode (RFC 3492), the ASCII encoding of Unicode labels in domain names.
enum Punycode {
    /// Returns the label in punycode, without the `xn--`; `nil` if a number in the computation overflows. O(n²) in the length of the label.
    static func encode(_ label: String) -> String? {
        let scalars = label.unicodeScalars.map(\.value)
        let basic = scalars.filter { $0 < 0x80 }
        var output = String(String.UnicodeScalarView(basic.compactMap(Unicode.Scalar.init)))
        if !basic.isEmpty { output.append("-") }
        var threshold: UInt32 = 128
        var delta: UInt32 = 0
        var bias: UInt32 = 72
        var handled = UInt32(basic.count)
        while handled < scalars.count {
            guard let next = scalars.filter({ $0 >= threshold }).min() else { return nil }
            let (step, overflowed) = (next - threshold).multipliedReportingOverflow(by: handled + 1)
            guard !overflowed, !delta.addingReportingOverflow(step).overflow else { return nil }
            delta += step
            threshold = next
            for scalar in scalars {
                if scalar < threshold { delta += 1 }
                guard scalar == threshold else { continue }
                output.append(contentsOf: variableLengthInteger(delta, bias: bias))
                bias = adapt(delta, count: handled + 1, isFirst: handled == UInt32(basic.count))
                delta = 0
                handled += 1
            }
            delta += 1
            threshold += 1
        }
        return output
    }

    /// Returns the digits of a number in Punycode (RFC 3492 §3.3), the least significant digit first.
    private static func variableLengthInteger(_ value: UInt32, bias: UInt32) -> String {
        var output = ""
        var rest = value
        var position: UInt32 = 36
        while true {
            let threshold = position <= bias ? 1 : min(position - bias, 26)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
            rest = (rest - threshold) / (36 - threshold)
            position += 36
        }
        output.append(digit(rest))
        return output
    }

    /// Decodes punycode without its `xn--`; `nil` if the text isn't punycode (RFC 3492 §6.2). O(n²) in the length of the text.
    static func decode(_ text: String) -> String? {
        let bytes = Array(text.utf8)
        guard bytes.allSatisfy({ $0 < 0x80 }) else { return nil }
        let delimiter = bytes.lastIndex(of: UInt8(ascii: "-"))
        var scalars = bytes[..<(delimiter ?? 0)].map { Unicode.Scalar($0) }
        var rest = bytes[(delimiter.map { $0 + 1 } ?? 0)...]
        var value: UInt32 = 128
        var index: UInt32 = 0
        var bias: UInt32 = 72
        while !rest.isEmpty {
            let before = index
            guard let sum = sum(&rest, bias: bias), !index.addingReportingOverflow(sum).overflow else { return nil }
            index += sum
            let count = UInt32(scalars.count + 1)
            bias = adapt(index - before, count: count, isFirst: before == 0)
            let (next, overflowed) = value.addingReportingOverflow(index / count)
            guard !overflowed, let scalar = Unicode.Scalar(next) else { return nil }
            value = next
            index %= count
            scalars.insert(scalar, at: Int(index))
            index += 1
        }
        return String(String.UnicodeScalarView(scalars))
    }

    /// Decodes one number of variable length; `nil` if it is incomplete or too large.
    private static func sum(_ bytes: inout ArraySlice<UInt8>, bias: UInt32) -> UInt32? {
        var (sum, weight, position): (UInt32, UInt32, UInt32) = (0, 1, 36)
        while let digit = bytes.popFirst().flatMap(value(of:)) {
            let (step, isTooLarge) = digit.multipliedReportingOverflow(by: weight)
            guard !isTooLarge, !sum.addingReportingOverflow(step).overflow else { return nil }
            sum += step
            let threshold = position <= bias ? 1 : min(position - bias, 26)
            guard digit >= threshold else { return sum }
            let (next, overflowed) = weight.multipliedReportingOverflow(by: 36 - threshold)
            guard !overflowed else { return nil }
            weight = next
            position += 36
        }
        return nil
    }

    /// Returns the value of a digit in base 36.
    private static func value(of byte: UInt8) -> UInt32? {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(byte) - 0x61
        case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(byte) - 0x41
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte) - 0x30 + 26
        default: nil
        }
    }

    /// Returns the digit of a value in base 36, in lower case.
    private static func digit(_ value: UInt32) -> Character {
        Character(Unicode.Scalar(UInt8(value < 26 ? 0x61 + value : 0x30 + value - 26)))
    }

    /// Adapts the bias after a delta (RFC 3492 §6.1).
    private static func adapt(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
        var delta = isFirst ? delta / 700 : delta / 2
        delta += delta / count
        var steps: UInt32 = 0
        while delta > 455 {
            delta /= 35
            steps += 36
        }
        return steps + 36 * delta / (delta + 38)
    }
}
