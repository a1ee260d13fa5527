import ErrorContract
import Foundation
import TestSupport
import Testing

/// A text in the sources: a call whose first argument is `en:`.
struct WrittenText: Hashable, Sendable, CustomTestStringConvertible {
    /// The file's path, from the repository's root.
    let file: String
    let line: Int
    /// The forms for each language of the text; empty for an argument that is not a literal.
    let forms: [Language: [PluralCategory: String]]

    /// The English text, which identifies it.
    var english: String { forms[.english]?[.other] ?? "" }
    var testDescription: String { "\(file):\(line)" }
    /// The location of the text, for test failures.
    var place: SourceLocation {
        SourceLocation(fileID: "Sources/\(file)", filePath: "\(Repository.root.path)/\(file)", line: max(1, line), column: 1)
    }

    /// Every text of the libraries, the server and the examples.
    static let all: [WrittenText] = Repository.files("swift", under: ["Sources", "Examples"])
        // This file handles parts of texts, and contains none.
        .filter { !$0.path.hasSuffix("/ErrorContract/Localization/LocalizedText.swift") }
        .flatMap { texts(in: (try? String(contentsOf: $0, encoding: .utf8)) ?? "", file: Repository.name(of: $0)) }

    /// Returns the texts of a source.
    static func texts(in source: String, file: String) -> [WrittenText] {
        guard source.contains("en:") else { return [] }
        let tokens = SwiftToken.all(in: source)
        return tokens.indices.dropLast(2).compactMap { index in
            guard tokens[index].isMark("("), tokens[index + 1].isWord("en"), tokens[index + 2].isMark(":") else { return nil }
            var forms: [Language: [PluralCategory: String]] = [:]
            for (label, value) in arguments(tokens[(index + 1)...]) where label != "others" {
                forms[Language(label)] = Self.forms(value)
            }
            return WrittenText(file: file, line: tokens[index].line, forms: forms)
        }
    }

    /// Returns the arguments of a call, up to its closing parenthesis.
    private static func arguments(_ tokens: ArraySlice<SwiftToken>) -> [(label: String, value: [SwiftToken])] {
        var arguments: [(label: String, value: [SwiftToken])] = []
        var depth = 0
        var rest = tokens
        while let token = rest.popFirst() {
            if token.isMark("(") || token.isMark("[") || token.isMark("{") { depth += 1 }
            if token.isMark(")") || token.isMark("]") || token.isMark("}") { depth -= 1 }
            if depth < 0 { break }
            if depth == 0, token.kind == .word, rest.first?.isMark(":") == true {
                arguments.append((token.text, []))
                rest.removeFirst()
            } else if !arguments.isEmpty, !(depth == 0 && token.isMark(",")) {
                arguments[arguments.count - 1].value.append(token)
            }
        }
        return arguments
    }

    /// Returns the forms of an argument: a literal, several joined by `+`, or `PluralForms(…)`.
    private static func forms(_ value: [SwiftToken]) -> [PluralCategory: String] {
        if let text = literal(value) { return [.other: text] }
        guard let open = value.firstIndex(where: { $0.isMark("(") }) else { return [:] }
        var forms: [PluralCategory: String] = [:]
        for (label, value) in arguments(value[(open + 1)...]) {
            if let category = PluralCategory(rawValue: label), let text = literal(value) { forms[category] = text }
        }
        return forms
    }

    private static func literal(_ tokens: [SwiftToken]) -> String? {
        let literals = tokens.filter { $0.kind == .literal }
        return !literals.isEmpty && tokens.allSatisfy { $0.kind == .literal || $0.isMark("+") }
            ? literals.map(\.text).joined() : nil
    }
}
