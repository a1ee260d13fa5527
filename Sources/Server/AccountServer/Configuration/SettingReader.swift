import Configuration
import ErrorContract
import Foundation

/// Reads settings by their names in the environment. The reader collects all problems, so that an operator can correct them all at once.
///
/// If a value is invalid, the reader records the problem, uses the default instead, and continues.
struct SettingReader {
    /// The source of the values.
    private let reader: ConfigReader
    /// The problems so far, in the order in which the settings were read.
    private(set) var problems: [ConfigurationProblem] = []

    /// Creates a reader without problems.
    init(reader: ConfigReader) {
        self.reader = reader
    }

    /// Reads a text. An empty text counts as absent.
    /// - Parameter isSecret: Whether the source must treat the value as a secret, for example in access logs.
    /// - Returns: The text without spaces at its ends; `nil` if it is absent or invalid.
    mutating func text(_ name: String, isSecret: Bool = false) -> String? {
        let key = ConfigKey(name.lowercased().split(separator: "_").map(String.init))
        guard let text = reader.string(forKey: key, isSecret: isSecret)?.trimmingCharacters(in: .whitespaces), !text.isEmpty
        else { return nil }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            // The problem doesn't quote the text, because it can contain a secret.
            let problem = ConfigurationProblem(setting: name, text: "contains a control character, such as the end of a line")
            if !problems.contains(problem) { problems.append(problem) }
            return nil
        }
        return text
    }

    /// Reads a text of limited length.
    /// - Parameter maximum: The largest number of bytes in UTF-8.
    /// - Returns: The text without spaces at its ends; `nil` if it is absent or invalid.
    mutating func text(_ name: String, maximumBytes maximum: Int) -> String? {
        guard let text = text(name) else { return nil }
        if text.utf8.count <= maximum { return text }
        refuse(name, "must have at most \(maximum) bytes (has \(text.utf8.count))")
        return nil
    }

    /// Reads comma-separated items; `nil` if the setting is absent.
    mutating func list(_ name: String) -> [String]? {
        text(name)?.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }

    /// Reads a setting that is one of several words, in uppercase or lowercase.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - choices: The valid words in lowercase, and their values.
    ///   - value: The default.
    mutating func choice<Value>(_ name: String, _ choices: KeyValuePairs<String, Value>, default value: Value) -> Value {
        guard let text = text(name) else { return value }
        if let chosen = choices.first(where: { $0.key == text.lowercased() }) { return chosen.value }
        refuse(name, "must be one of \(choices.map(\.key).joined(separator: ", ")) (is “\(text)”)")
        return value
    }

    /// Reads a Boolean: `true`, `1`, `yes` or `on`, or `false`, `0`, `no` or `off`.
    mutating func boolean(_ name: String, default value: Bool) -> Bool {
        guard let text = text(name) else { return value }
        if ["true", "1", "yes", "on"].contains(text.lowercased()) { return true }
        if ["false", "0", "no", "off"].contains(text.lowercased()) { return false }
        refuse(name, "must be true or false (is “\(text)”)")
        return value
    }

    /// Reads a language in which all texts are available.
    mutating func language(_ name: String, default value: Language) -> Language {
        guard let text = text(name) else { return value }
        if Language.supported.contains(Language(text)) { return Language(text) }
        refuse(name, "must be one of \(Language.supported.map(\.rawValue).joined(separator: ", ")) (is “\(text)”)")
        return value
    }

    /// Reads a whole number in decimal digits.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - range: The valid values.
    ///   - value: The default.
    mutating func integer(_ name: String, in range: ClosedRange<Int>, default value: Int) -> Int {
        guard let text = text(name) else { return value }
        if let number = Int(text), range.contains(number) { return number }
        refuse(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound) (is “\(text)”)")
        return value
    }

    /// Reads a number of hours, such as `1` or `0.5`.
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - range: The valid values, in hours.
    ///   - value: The default.
    mutating func hours(_ name: String, in range: ClosedRange<Double>, default value: Duration) -> Duration {
        guard let text = text(name) else { return value }
        if let number = Double(text), range.contains(number) { return .seconds(number * 3_600) }
        refuse(name, "must be a number of hours from \(range.lowerBound) to \(range.upperBound) (is “\(text)”)")
        return value
    }

    /// Reads an absolute web address of at most 500 bytes with a host, without a user, query and fragment.
    ///
    /// Access tokens contain such an address, and the server refuses tokens of more than 4,096 bytes.
    /// - Returns: The address; `nil` if it is absent or invalid.
    mutating func webAddress(_ name: String) -> URL? {
        guard let text = text(name, maximumBytes: 500) else { return nil }
        if let url = URL(string: text), url.scheme == "https" || url.scheme == "http", url.host?.isEmpty == false,
            url.query == nil, url.fragment == nil, url.user == nil
        {
            return url
        }
        refuse(name, "must be an absolute http or https address without user, ? and # (is “\(text)”)")
        return nil
    }

    /// Reads the path of an existing folder, relative to the working folder or absolute.
    /// - Returns: The folder; `nil` if the setting is absent or invalid.
    mutating func folder(_ name: String) -> URL? {
        guard let text = text(name) else { return nil }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: text, isDirectory: &isFolder), isFolder.boolValue {
            return URL(filePath: text, directoryHint: .isDirectory)
        }
        refuse(name, "must be an existing folder (is “\(text)”)")
        return nil
    }

    /// Records a problem. The user and password of a quoted address are omitted.
    ///
    /// - Parameters:
    ///   - name: The name of the setting.
    ///   - text: The problem, worded to follow the name in a sentence.
    mutating func refuse(_ name: String, _ text: String) {
        let shown = text.replacing(/“([^”:]*:)[^”]*@/) { "“\($0.1)…@" }
        problems.append(ConfigurationProblem(setting: name, text: shown))
    }
}

/// An invalid setting.
public struct ConfigurationProblem: Hashable, Sendable {
    /// The name of the setting in the environment.
    public let setting: String
    /// The problem and its solution.
    public let text: String
}

/// A configuration with invalid settings. Its description has a line for each problem, without values of secrets.
public struct InvalidConfiguration: Error, Hashable, CustomStringConvertible {
    /// The problems, in the order in which the settings were read.
    public let problems: [ConfigurationProblem]

    /// All problems, one per line, after a heading.
    public var description: String {
        (["The configuration is invalid:"] + problems.map { "  \($0.setting) \($0.text)" }).joined(separator: "\n")
    }
}

/// A secret of the configuration, which descriptions, dumps and logs don't contain.
public struct HiddenText: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret.
    public let text: String

    /// Creates a secret.
    /// - Parameter text: The secret. Keep no other copy of it.
    public init(text: String) {
        self.text = text
    }

    /// A fixed text instead of the secret.
    public var description: String { "(hidden)" }
    /// A fixed text instead of the secret.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` doesn't show the secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
