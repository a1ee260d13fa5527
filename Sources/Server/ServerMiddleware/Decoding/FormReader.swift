import ErrorContract
package import StrictJSON

/// Reads `application/x-www-form-urlencoded` bodies (WHATWG URL §5.1).
package enum FormReader {
    /// The fields as an object of strings.
    /// - Throws: ``ContractError`` with the code `REQUEST_MALFORMED` for bytes that are no UTF-8, a broken percent-encoding, a
    ///   name that occurs twice, or more than 100 fields.
    package static func object(_ bytes: [UInt8]) throws -> JSONValue {
        var object = JSONObject()
        let pairs = bytes.split(separator: UInt8(ascii: "&"))
        guard pairs.count <= 100 else { throw ContractError(.requestMalformed) }
        for pair in pairs {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = halves.first.flatMap(decoded), let value = halves.count == 2 ? decoded(halves[1]) : "",
                object[name] == nil
            else { throw ContractError(.requestMalformed) }
            object[name] = .string(value)
        }
        return .object(object)
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        var output: [UInt8] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): output.append(0x20)
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2)
                guard digits.count == 2, let text = String(validating: digits, as: UTF8.self),
                    text.allSatisfy(\.isHexDigit), let value = UInt8(text, radix: 16)
                else { return nil }
                output.append(value)
                rest = rest.dropFirst(2)
            default: output.append(byte)
            }
        }
        return String(validating: output, as: UTF8.self)
    }
}
