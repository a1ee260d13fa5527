import Foundation
import StrictJSON

/// A field name for users, such as `items[1].name`, built step by step.
///
/// The name is one buffer of bytes, because the decoder often extends and shortens it while it reads a nested body. For programs,
/// ``FieldPointer`` builds the same location as a JSON Pointer.
struct FieldName {
    /// The maximum length of a name in bytes. Thousands of problems can have a common long prefix of their names. Without a maximum, a body
    /// of 64 KiB could therefore have names of several hundred megabytes.
    static let longest = 1_024

    private var bytes: [UInt8] = []

    /// Creates the empty name, which stands for the whole body.
    init() {
        // 48 bytes are sufficient for most names.
        bytes.reserveCapacity(48)
    }

    /// Parses a JSON Pointer such as `#/items/1/name` or `/items/1/name`.
    /// - Parameter pointer: The pointer (RFC 6901), with or without the `#` of a URI fragment.
    /// - Returns: `nil` if the text is not a pointer.
    init?(pointer: String) {
        var pointer = pointer
        let isFragment = pointer.utf8.first == UInt8(ascii: "#")
        if isFragment, pointer.utf8.contains(UInt8(ascii: "%")) { pointer = pointer.removingPercentEncoding ?? pointer }
        self.init()
        guard pointer.withUTF8({ read($0, from: isFragment ? 1 : 0) }) else { return nil }
    }

    /// Appends the steps (the parts between slashes) of a pointer, without the `/data/attributes` of JSON:API. Returns whether the pointer
    /// is well-formed.
    private mutating func read(_ pointer: UnsafeBufferPointer<UInt8>, from start: Int) -> Bool {
        guard start < pointer.count else { return true }
        guard pointer[start] == UInt8(ascii: "/") else { return false }
        // JSON:API wraps the fields in `/data/attributes`.
        let wrapper: StaticString = "/data/attributes"
        let end = start + wrapper.utf8CodeUnitCount
        let isWrapped = pointer.stands(wrapper, at: start) && (end == pointer.count || pointer[end] == UInt8(ascii: "/"))
        var stepStart = (isWrapped ? end : start) + 1
        guard stepStart <= pointer.count else { return true }
        for index in stepStart...pointer.count where index == pointer.count || pointer[index] == UInt8(ascii: "/") {
            append(unescaping: pointer[stepStart..<index])
            stepStart = index + 1
        }
        return true
    }

    /// Appends a step of a JSON Pointer, with `~1` and `~0` replaced (RFC 6901 §4).
    private mutating func append(unescaping step: Slice<UnsafeBufferPointer<UInt8>>) {
        guard step.contains(UInt8(ascii: "~")) else { return append(bytes: UnsafeBufferPointer(rebasing: step)) }
        let text = String(decoding: step, as: UTF8.self)
        append(text.replacing("~1", with: "/").replacing("~0", with: "~"))
    }

    /// Appends the name of a member or the index of an element. A step that consists of digits is an index.
    mutating func append(_ step: String) {
        var step = step
        step.withUTF8 { append(bytes: $0) }
    }

    /// Appends a step: an index in brackets, or a name after a dot.
    private mutating func append(bytes step: UnsafeBufferPointer<UInt8>) {
        let isIndex = !step.isEmpty && step.allSatisfy { (0x30...0x39).contains($0) }
        if isIndex {
            bytes.append(UInt8(ascii: "["))
        } else if !bytes.isEmpty {
            bytes.append(UInt8(ascii: "."))
        }
        bytes.append(contentsOf: step)
        if isIndex { bytes.append(UInt8(ascii: "]")) }
    }

    /// Appends an index in brackets.
    private mutating func append(index: Int) {
        bytes.append(UInt8(ascii: "["))
        if index < 10 { bytes.append(0x30 + UInt8(index)) } else { bytes.append(contentsOf: String(index).utf8) }
        bytes.append(UInt8(ascii: "]"))
    }

    /// Appends the name of a member, calls a closure, and removes the name.
    mutating func within<Value>(_ step: String, _ body: (inout FieldName) -> Value) -> Value {
        let length = bytes.count
        append(step)
        defer { shorten(to: length) }
        return body(&self)
    }

    /// Appends the index of an element, calls a closure, and removes the index.
    mutating func within<Value>(index: Int, _ body: (inout FieldName) -> Value) -> Value {
        let length = bytes.count
        append(index: index)
        defer { shorten(to: length) }
        return body(&self)
    }

    /// Removes bytes at the end.
    private mutating func shorten(to length: Int) {
        while bytes.count > length { bytes.removeLast() }
    }

    /// The name so far, shortened to ``longest`` bytes.
    var text: String { Self.shortened(bytes) }

    /// Returns a name without the bytes after the first ``longest`` bytes. The result doesn't end in the middle of a character.
    static func shortened(_ name: [UInt8]) -> String {
        guard name.count > longest else { return String(decoding: name, as: UTF8.self) }
        var end = longest
        while end > 0, name[end] & 0xC0 == 0x80 { end -= 1 }
        return String(decoding: name[..<end], as: UTF8.self)
    }
}

/// A JSON Pointer in a URI fragment, such as `#/items/1/name`, built step by step.
struct FieldPointer {
    private var bytes = [UInt8(ascii: "#")]

    /// Appends a step and escapes `~` and `/` (RFC 6901 §3).
    mutating func append(_ step: String) {
        bytes.append(UInt8(ascii: "/"))
        for byte in step.utf8 {
            switch byte {
            case UInt8(ascii: "~"): bytes.append(contentsOf: "~0".utf8)
            case UInt8(ascii: "/"): bytes.append(contentsOf: "~1".utf8)
            default: bytes.append(byte)
            }
        }
    }

    /// The pointer so far.
    var text: String { String(decoding: bytes, as: UTF8.self) }
}

/// Field problems in the formats of other servers.
extension FieldViolation {
    /// Returns the problems of a map from field to texts: `{"email":["…"],"name":"…"}`.
    static func map(_ value: JSONValue?) -> [FieldViolation] {
        var found: [FieldViolation] = []
        guard let object = value?.objectValue else { return found }
        found.reserveCapacity(object.members.count)
        for (field, texts) in object.members {
            // ASP.NET writes the location of a value as a JSONPath, such as `$.age`.
            let name = field.hasPrefix("$.") ? String(field.dropFirst(2)) : field
            switch texts {
            case .string(let text): found.append(FieldViolation(field: name, message: text))
            case .array(let items):
                for case .string(let text) in items { found.append(FieldViolation(field: name, message: text)) }
            default: break
            }
        }
        return found
    }

    /// Returns a problem with a JSON Pointer as its location. If the text is not a pointer, the method uses it as the name of the field.
    static func at(pointer: String, code: ErrorCode?, message: String) -> FieldViolation {
        guard let name = FieldName(pointer: pointer) else { return FieldViolation(field: pointer, code: code, message: message) }
        let written = pointer.utf8.first == UInt8(ascii: "#") ? pointer : "#" + pointer
        return FieldViolation(field: name.text, pointer: written, code: code, message: message)
    }
}
