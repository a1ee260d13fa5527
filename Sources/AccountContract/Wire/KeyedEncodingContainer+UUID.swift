import Foundation

extension KeyedEncodingContainer {
    /// Writes ids in lower case (RFC 9562 §4), as access tokens and commands have them: backends compare them as texts. The synthesized
    /// `encode(to:)` of this module's types finds this before the one that writes upper case.
    mutating func encode(_ id: UUID, forKey key: Key) throws {
        try encode(id.uuidString.lowercased(), forKey: key)
    }
}
