public import Foundation

/// The parameters of one link: what its path captured and what its query says, percent-decoded, each at most once.
public struct LinkParameters: Hashable, Sendable {
    private var values: [String: String] = [:]

    init(query: String?, captured: [String: String]) throws(LinkRefusal) {
        values = captured
        for item in (query ?? "").split(separator: "&") {
            let halves = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves[0].removingPercentEncoding else { throw .malformed }
            guard let value = halves.count > 1 ? halves[1].removingPercentEncoding : "" else { throw .malformedParameter(name) }
            guard values.updateValue(value, forKey: name) == nil else { throw .doubledParameter(name) }
        }
    }

    /// A parameter, or `nil` if it is not there.
    public subscript(name: String) -> String? { values[name] }

    /// The names of the parameters.
    public var names: Set<String> { Set(values.keys) }

    /// A parameter that must be there.
    /// - Throws: ``LinkRefusal/missingParameter(_:)`` if it is not, or is empty.
    public func text(_ name: String) throws(LinkRefusal) -> String {
        guard let value = values[name], !value.isEmpty else { throw .missingParameter(name) }
        return value
    }

    /// A whole number that must be there, in plain digits.
    /// - Throws: ``LinkRefusal/missingParameter(_:)``, or ``LinkRefusal/malformedParameter(_:)`` if it is no whole number or
    ///   lies outside of `range`.
    public func integer(_ name: String, in range: ClosedRange<Int> = 0...Int.max) throws(LinkRefusal) -> Int {
        let value = try text(name)
        guard Self.isNumber(value, allowsFraction: false), let number = Int(value), range.contains(number) else {
            throw .malformedParameter(name)
        }
        return number
    }

    /// A decimal number that must be there, in plain digits with a point if it has a fraction.
    /// - Throws: ``LinkRefusal/missingParameter(_:)``, or ``LinkRefusal/malformedParameter(_:)`` if it is no such number.
    public func decimal(_ name: String) throws(LinkRefusal) -> Decimal {
        let value = try text(name)
        guard Self.isNumber(value, allowsFraction: true), value.count <= 38, let number = Decimal(string: value) else {
            throw .malformedParameter(name)
        }
        return number
    }

    private static func isNumber(_ text: String, allowsFraction: Bool) -> Bool {
        let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count <= (allowsFraction ? 2 : 1)
            && parts.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }
    }
}

extension LinkParameters: CustomStringConvertible, CustomReflectable {
    /// The names alone: the values may be secrets, and descriptions end up in logs.
    public var description: String { "LinkParameters(\(names.sorted().joined(separator: ", ")))" }
    /// Shows no member.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}
