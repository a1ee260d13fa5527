/// The path of a value in a request's body. ``name`` is for users, and ``pointer`` is for programs.
///
/// ```swift
/// let path = FieldPath([.member("items"), .element(1), .member("name")])
/// print(path.name, path.pointer)  // items[1].name #/items/1/name
/// ```
public struct FieldPath: Hashable, Sendable {
    /// One level of a path.
    public enum Step: Hashable, Sendable {
        /// A member of an object, by its name.
        case member(String)
        /// An element of an array, by its index.
        case element(Int)
    }

    /// The steps from the top level.
    public var steps: [Step]

    /// Creates a path. A path without steps is the whole body.
    public init(_ steps: [Step] = []) {
        self.steps = steps
    }

    /// The path, cut before the first name of more than 128 bytes. Without this limit, a client could make the response as large as the
    /// request, because the client chooses the names of unknown members.
    var reportable: FieldPath {
        let end = steps.firstIndex { if case .member(let name) = $0 { name.utf8.count > 128 } else { false } }
        return end.map { FieldPath(Array(steps[..<$0])) } ?? self
    }

    /// Returns the path of a member or an element.
    func appending(_ step: Step) -> FieldPath { FieldPath(steps + [step]) }

    /// The path in dot notation: `items[1].name`.
    public var name: String {
        steps.reduce(into: "") { text, step in
            switch step {
            case .member(let name): text += (text.isEmpty ? "" : ".") + name
            case .element(let index): text += "[\(index)]"
            }
        }
    }

    /// The path as a JSON Pointer in a URI fragment (RFC 6901 §6): `#/items/1/name`.
    public var pointer: String {
        "#"
            + steps.map { step in
                switch step {
                case .member(let name): "/" + Self.escaped(name)
                case .element(let index): "/\(index)"
                }
            }.joined()
    }

    /// Escapes a name for a JSON Pointer (RFC 6901 §3) within a URI fragment (RFC 3986 §3.5).
    private static func escaped(_ name: String) -> String {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@".utf8)
        // Escape bytes, not characters. Swift combines a slash and a following combining mark into one character, and a comparison of
        // characters would not find this slash.
        return name.utf8.reduce(into: "") { result, byte in
            if byte == UInt8(ascii: "~") {
                result += "~0"
            } else if byte == UInt8(ascii: "/") {
                result += "~1"
            } else if allowed.contains(byte) {
                result.append(Character(Unicode.Scalar(byte)))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                result += "%" + (digits.count == 1 ? "0" : "") + digits
            }
        }
    }
}
