/// A writer of text in Prometheus' exposition format 0.0.4.
struct PrometheusText {
    private(set) var text = ""

    /// Begins the samples of a name. The caller must add all samples of this name before it begins another name.
    /// - Parameters:
    ///   - name: The name, without the suffixes of a histogram.
    ///   - kind: The kind of the metric.
    ///   - help: The help text; `nil` omits it.
    mutating func begin(_ name: String, _ kind: PrometheusKind, help: String?) {
        if let help { text += "# HELP \(name) \(Self.escaped(help, quote: false))\n" }
        text += "# TYPE \(name) \(kind.rawValue)\n"
    }

    /// Adds a sample.
    /// - Parameter labels: The encoded labels, without braces.
    mutating func sample(_ name: String, _ labels: String, _ value: Double) {
        text += labels.isEmpty ? name : "\(name){\(labels)}"
        text += " \(Self.number(value))\n"
    }

    /// Formats a number. A whole number has no decimal point.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }

    /// Encodes labels, sorted by name. If several labels have the same name, the function uses the first label. It cuts values after 200
    /// characters.
    /// - Parameter pairs: The names and values. Characters that are invalid in names become underscores.
    /// - Returns: The labels without braces. The text is empty if there are no labels.
    static func labels(_ pairs: [(String, String)]) -> String {
        var seen: Set<String> = []
        return
            pairs
            .map { (labelName($0.0), $0.1) }
            .filter { seen.insert($0.0).inserted }
            .sorted { $0.0 < $1.0 }
            .map { "\($0.0)=\"\(escaped(String($0.1.prefix(200)), quote: true))\"" }
            .joined(separator: ",")
    }

    /// Converts a text to a metric name, which has only letters, digits, `_` and `:`, and doesn't begin with a digit.
    static func name(_ text: String, isPrefix: Bool = false) -> String {
        if isPrefix, text.isEmpty { return "" }
        return sane(text, allowing: ":")
    }

    /// Converts a text to the name of a label. Names that Prometheus reserves get the prefix `label_`.
    private static func labelName(_ text: String) -> String {
        let name = sane(text, allowing: "")
        // Prometheus reserves `le` for histograms, and names that begin with two underscores.
        return name == "le" || name == "quantile" || name.hasPrefix("__") ? "label_\(name)" : name
    }

    /// Replaces the bytes that are invalid in a name with underscores.
    private static func sane(_ text: String, allowing others: String) -> String {
        var bytes = text.utf8.map { byte -> UInt8 in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: byte
            default: others.utf8.contains(byte) ? byte : UInt8(ascii: "_")
            }
        }
        if bytes.first.map({ (0x30...0x39).contains($0) }) ?? true { bytes.insert(UInt8(ascii: "_"), at: 0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Escapes a help text, or the value of a label in quotes.
    private static func escaped(_ text: String, quote: Bool) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\n": escaped += "\\n"
            case "\"" where quote: escaped += "\\\""
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
