import Dispatch
import Foundation

/// Reads, writes and removes one item of a keychain. The item is a generic password.
///
/// The type calls keychain services through the protocol ``SecItemFunctions``. A test can use another implementation of this protocol, so
/// the test also runs on systems without a keychain.
struct KeychainItem: Sendable {
    /// The error of a failed call of keychain services.
    struct Failure: Error, Hashable {
        var status: SecItemStatus
    }

    /// The queue of all keychain calls. A call blocks while another process uses the keychain. With the file-based keychain of macOS, a
    /// call even blocks until the user responds to a prompt. Therefore, keychain calls must not run on a thread of the cooperative pool.
    private static let queue = DispatchQueue(label: "holdfast.keychain")

    private let attributes: SecItemAttributes
    private let functions: any SecItemFunctions

    /// Creates a value that identifies an item. The initializer doesn't access the keychain.
    /// - Parameters:
    ///   - attributes: The attributes that identify the item, and its accessibility.
    ///   - functions: Keychain services.
    init(_ attributes: SecItemAttributes, functions: any SecItemFunctions) {
        self.attributes = attributes
        self.functions = functions
    }

    /// Returns the item's data; `nil` if there is no item.
    func read() async throws(Failure) -> Data? {
        let query = attributes.query
        let (status, data) = await Self.queue.run { [functions] in functions.copyMatching(query) }
        if status == .itemNotFound { return nil }
        guard status == .success else { throw Failure(status: status) }
        guard let data else { throw Failure(status: .decode) }
        return data
    }

    /// Replaces the item's data and accessibility. If there is no item, adds it.
    func write(_ data: Data) async throws(Failure) {
        let status = await Self.queue.run { [attributes, functions] in
            let status = functions.update(attributes.query, accessibility: attributes.accessibility, data: data)
            guard status == .itemNotFound else { return status }
            let added = functions.add(attributes, data: data)
            // Another process has added the item since the update failed.
            guard added == .duplicateItem else { return added }
            return functions.update(attributes.query, accessibility: attributes.accessibility, data: data)
        }
        guard status == .success else { throw Failure(status: status) }
    }

    /// Removes the item, if there is one.
    func remove() async throws(Failure) {
        let query = attributes.query
        let status = await Self.queue.run { [functions] in functions.delete(query) }
        guard status == .success || status == .itemNotFound else { throw Failure(status: status) }
    }
}

extension KeychainItem {
    /// Returns the credentials in the item; `nil` if there is no item, or if the item contains other data.
    func credentials() async throws(Failure) -> Credentials? {
        guard let data = try await read() else { return nil }
        return try? JSONDecoder().decode(Credentials.self, from: data)
    }

    /// Writes credentials to the item; `nil` removes the item.
    func store(_ credentials: Credentials?) async throws {
        guard let credentials else { return try await remove() }
        try await write(JSONEncoder().encode(credentials))
    }
}

extension KeychainItem: SecretStore {
    func loadSecret() async throws -> Data? { try await read() }

    func saveSecret(_ secret: Data?) async throws {
        guard let secret else { return try await remove() }
        try await write(secret)
    }
}

/// The four functions of keychain services, such as `SecItemAdd`. Tests use another implementation of this protocol.
protocol SecItemFunctions: Sendable {
    /// Adds an item.
    func add(_ attributes: SecItemAttributes, data: Data) -> SecItemStatus
    /// Returns the data of the one item that matches.
    func copyMatching(_ query: SecItemAttributes) -> (SecItemStatus, Data?)
    /// Replaces the data of the items that match. Also replaces the accessibility of the items, unless `accessibility` is `nil`.
    func update(_ query: SecItemAttributes, accessibility: SecItemAttributes.Accessibility?, data: Data) -> SecItemStatus
    /// Removes the items that match.
    func delete(_ query: SecItemAttributes) -> SecItemStatus
}

/// The attributes of a generic password that this library uses.
struct SecItemAttributes: Hashable, Sendable {
    /// The values of `kSecAttrAccessible`.
    enum Accessibility: Hashable, Sendable {
        case whenUnlocked
        case afterFirstUnlock
        case whenUnlockedThisDeviceOnly
        case afterFirstUnlockThisDeviceOnly
        case whenPasscodeSetThisDeviceOnly
    }

    /// `kSecAttrService`.
    var service: String
    /// `kSecAttrAccount`.
    var account: String
    /// `kSecUseDataProtectionKeychain`.
    var usesDataProtection: Bool
    /// `kSecAttrAccessGroup`; `nil` for the app's default group.
    var accessGroup: String?
    /// `kSecAttrAccessible`; not part of a query.
    var accessibility: Accessibility?

    /// Creates attributes. The file-based keychain has neither access groups nor accessibility, so the initializer ignores both for it.
    init(
        service: String,
        account: String,
        accessGroup: String?,
        accessibility: Accessibility,
        usesDataProtection: Bool
    ) {
        self.service = service
        self.account = account
        self.usesDataProtection = usesDataProtection
        self.accessGroup = usesDataProtection ? accessGroup : nil
        self.accessibility = usesDataProtection ? accessibility : nil
    }

    /// The attributes that find the item. They don't include the accessibility, so they find the item with any accessibility.
    var query: SecItemAttributes {
        var query = self
        query.accessibility = nil
        return query
    }
}

/// A result of keychain services (`OSStatus`). The constants are the values of `SecBase.h` that the library handles or describes in logs.
struct SecItemStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    let rawValue: Int32

    static let success = SecItemStatus(rawValue: 0)
    static let itemNotFound = SecItemStatus(rawValue: -25300)
    static let duplicateItem = SecItemStatus(rawValue: -25299)
    static let interactionNotAllowed = SecItemStatus(rawValue: -25308)
    static let missingEntitlement = SecItemStatus(rawValue: -34018)
    static let decode = SecItemStatus(rawValue: -26275)

    /// The number of the status. If an app can handle the status, the text also contains the cause.
    var description: String {
        switch self {
        case .interactionNotAllowed:
            "keychain status -25308: the device is locked, or the keychain needs the user"
        case .missingEntitlement:
            "keychain status -34018: the process has no keychain access group; sign it with one, or use the file-based keychain on macOS"
        default: "keychain status \(rawValue)"
        }
    }
}
