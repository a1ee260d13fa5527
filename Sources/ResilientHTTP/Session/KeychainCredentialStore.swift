#if canImport(Security)
    public import Foundation
    import Security

    /// Keeps credentials in the keychain of an Apple platform, readable after the first unlock and on this device only.
    public struct KeychainCredentialStore: CredentialStore {
        /// The keychain refused.
        public struct Failure: Error, Hashable, CustomStringConvertible {
            /// The keychain's status.
            public let status: OSStatus
            /// The status, for a log.
            public var description: String { "keychain status \(status)" }
        }

        private let service: String
        private let account: String
        private let accessGroup: String?

        /// Creates a store.
        /// - Parameters:
        ///   - service: The name under which the app keeps its session, such as its bundle identifier.
        ///   - account: Tells several sessions of one app apart.
        ///   - accessGroup: A group that an app shares with its extensions.
        public init(service: String, account: String = "session", accessGroup: String? = nil) {
            self.service = service
            self.account = account
            self.accessGroup = accessGroup
        }

        private var query: [CFString: Any] {
            var query: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                kSecUseDataProtectionKeychain: true,
            ]
            if let accessGroup { query[kSecAttrAccessGroup] = accessGroup }
            return query
        }

        /// The credentials, or `nil` if nobody is signed in.
        public func load() async throws -> Credentials? {
            var query = query
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess, let data = item as? Data else { throw Failure(status: status) }
            return try? JSONDecoder().decode(Credentials.self, from: data)
        }

        /// Keeps credentials in place of earlier ones; `nil` forgets them.
        public func save(_ credentials: Credentials?) async throws {
            guard let credentials else {
                let status = SecItemDelete(query as CFDictionary)
                guard status == errSecSuccess || status == errSecItemNotFound else { throw Failure(status: status) }
                return
            }
            let data = try JSONEncoder().encode(credentials)
            var status = SecItemUpdate(query as CFDictionary, [kSecValueData: data] as CFDictionary)
            if status == errSecItemNotFound {
                var item = query
                item[kSecValueData] = data
                item[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                status = SecItemAdd(item as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Failure(status: status) }
        }
    }
#endif
