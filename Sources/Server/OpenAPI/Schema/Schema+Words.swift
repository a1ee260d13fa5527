import ErrorContract
import StrictJSON

extension Schema {
    /// The shape in a few words, such as `text, 1–100 characters`.
    var words: String {
        switch kind {
        case .text(let rules): rules.words
        case .integer: "whole number"
        case .flag: "true or false"
        case .constant(let value): String(decoding: value.encoded(), as: UTF8.self)
        case .list(let element, _): "list: \(element.words)"
        case .object, .form: "object"
        case .map(let element): "object of \(element.words)"
        case .named(let named): named.schema.words
        }
    }

    /// What the value means, behind any names.
    var explained: Prose {
        if case .named(let named) = kind { named.schema.explained } else { meaning }
    }

    /// The codes with which a value is refused, behind any names.
    var allRefusals: [ErrorCode] {
        if case .named(let named) = kind { refusals + named.schema.allRefusals } else { refusals }
    }
}

extension TextRules {
    fileprivate var words: String {
        if !choices.isEmpty { return choices.joined(separator: " or ") }
        let name =
            switch format {
            case "email": "e-mail address"
            case "uuid": "UUID"
            case "date-time": "date and time"
            case "uri", "uri-reference": "address"
            default: "text"
            }
        guard let length else { return name }
        return length.lowerBound > 0
            ? "\(name), \(length.lowerBound)–\(length.upperBound) characters" : "\(name), at most \(length.upperBound) characters"
    }
}
