import ErrorContract
import Foundation
import StrictJSON

/// The types that are read from one JSON scalar.
enum BodyScalars {
    /// The value, or `nil` if the type is read by its own `init(from:)`.
    /// - Throws: ``BodyScalars/Mismatch`` or a ``ErrorContract/ContractRefusal`` if it does not fit.
    static func decode<Value>(_ type: Value.Type, from place: BodyPlace) throws -> Value? {
        switch type {
        case is String.Type: try require(place.value.stringValue) as? Value
        case is Bool.Type: try require(bool(place)) as? Value
        case is Double.Type: try require(number(place)) as? Value
        case is Float.Type: try require(number(place).map { Float($0) }.flatMap { $0.isFinite ? $0 : nil }) as? Value
        case let type as any FixedWidthInteger.Type: try integer(type, place) as? Value
        case is Date.Type: try date(place) as? Value
        case is URL.Type: try url(place) as? Value
        case is UUID.Type: try require(place.value.stringValue.flatMap { UUID(uuidString: $0) }) as? Value
        case is JSONValue.Type: place.value as? Value
        default: nil
        }
    }

    /// The value has another type.
    struct Mismatch: ContractRefusal {
        var code: ErrorCode = .validationInvalidFormat
    }

    private static func require<Value>(_ value: Value?) throws -> Value {
        guard let value else { throw Mismatch() }
        return value
    }

    private static func bool(_ place: BodyPlace) -> Bool? {
        if let flag = place.value.boolValue { return flag }
        guard place.isForm else { return nil }
        return switch place.value.stringValue?.lowercased() {
        case "true", "1", "on", "yes": true
        case "false", "0", "off", "no": false
        default: nil
        }
    }

    private static func number(_ place: BodyPlace) -> Double? {
        let number = place.value.doubleValue ?? (place.isForm ? place.value.stringValue.flatMap(Double.init) : nil)
        return number.flatMap { $0.isFinite ? $0 : nil }
    }

    private static func integer<Number: FixedWidthInteger>(_ type: Number.Type, _ place: BodyPlace) throws -> Number {
        if case .integer(let value) = place.value { return try require(Number(exactly: value)) }
        if case .number(let value) = place.value {
            // Beyond 2^53 a Double may be another number than the one in the text.
            return try require(value.magnitude <= 0x1p53 ? Number(exactly: value) : nil)
        }
        return try require(place.isForm ? place.value.stringValue.flatMap { Number($0) } : nil)
    }

    private static func date(_ place: BodyPlace) throws -> Date {
        guard let text = place.value.stringValue else { throw Mismatch() }
        // Foundation reads over what follows a date, and takes February 30 for March 2.
        let form = /([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2})(\.[0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})/
        guard let parts = text.wholeMatch(of: form),
            (try? Date(parts.1 + "Z", strategy: .iso8601))?.formatted(.iso8601) == parts.1 + "Z",
            let date = try? Date(text, strategy: Date.ISO8601FormatStyle(includingFractionalSeconds: parts.2 != nil))
        else { throw Mismatch(code: .validationInvalidDate) }
        return date
    }

    private static func url(_ place: BodyPlace) throws -> URL {
        guard let text = place.value.stringValue else { throw Mismatch() }
        // Foundation would encode spaces, and so take any sentence for an address.
        guard let url = URL(string: text), !text.isEmpty, !text.contains(where: \.isWhitespace) else {
            throw Mismatch(code: .validationInvalidURL)
        }
        return url
    }
}
