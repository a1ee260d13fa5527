#if canImport(Security)
    import Foundation
    import Security

    /// Stores credentials in the keychain of an Apple platform.
    ///
    /// ```swift
    /// let store = KeychainCredentialStore(service: "com.example.app", accessGroup: "ABCDE12345.com.example.shared")
    /// ```
    ///
    /// **Accessibility.** By default, the item can be read after the first unlock since the device started, even in the background. The
    /// item doesn't move to another device, not even with a backup. Before the first unlock, ``load()`` throws a ``Failure`` whose
    /// ``Failure/isLocked`` is `true`. The user is still signed in. Try again when protected data is available.
    ///
    /// **Access group.** An app and its extensions share the session if both list the group in their entitlement `keychain-access-groups`
    /// and pass the group to this store. The keychain has no lock. Therefore, `exclusively(_:)` does not exclude other processes, and
    /// `save(_:replacing:)` compares and writes in two steps. If two processes refresh at the same time, both send the same refresh token.
    ///
    /// **macOS.** The default is the data-protection keychain, which works only in an app that is signed with a keychain access group. In a
    /// command-line tool or a test without a signature, every call fails with the status −34018 (`errSecMissingEntitlement`). Such a
    /// program can use ``Keychain/fileBased``, which is the login keychain. The login keychain has neither accessibility nor access groups.
    /// It prompts the user before another program reads the item. It also prompts the user after a program without a signature was rebuilt.
    public struct KeychainCredentialStore: CredentialStore {
        /// An error of keychain services.
        public struct Failure: Error, Hashable, CustomStringConvertible {
            /// The status of the failed call (`OSStatus`), as in `SecBase.h`.
            public let status: Int32
            /// Whether the item can't be read now, but may be readable later. Either the device is locked, or the system could not show a
            /// prompt to the user.
            public var isLocked: Bool { status == SecItemStatus.interactionNotAllowed.rawValue }
            /// A text for logs, which contains the status. For common statuses, the text also contains the cause.
            public var description: String { SecItemStatus(rawValue: status).description }
        }

        /// Determines when the item can be read (`kSecAttrAccessible`).
        ///
        /// If an item was stored with another accessibility, the next save of credentials changes the accessibility of the item.
        public struct Accessibility: Hashable, Sendable {
            let value: SecItemAttributes.Accessibility

            /// While the device is unlocked.
            public static let whenUnlocked = Accessibility(value: .whenUnlocked)
            /// After the first unlock since the device started, also in the background.
            public static let afterFirstUnlock = Accessibility(value: .afterFirstUnlock)
            /// While this device is unlocked. A backup doesn't restore the item on another device.
            public static let whenUnlockedThisDeviceOnly = Accessibility(value: .whenUnlockedThisDeviceOnly)
            /// After the first unlock since this device started. A backup doesn't restore the item on another device.
            public static let afterFirstUnlockThisDeviceOnly = Accessibility(value: .afterFirstUnlockThisDeviceOnly)
            /// While this device is unlocked, and only if it has a passcode. If the passcode is removed, the item is removed.
            public static let whenPasscodeSetThisDeviceOnly = Accessibility(value: .whenPasscodeSetThisDeviceOnly)
        }

        /// The keychain that holds the item.
        public struct Keychain: Hashable, Sendable {
            let isDataProtection: Bool

            /// The keychain of iOS, which also exists on macOS. On macOS, the app must be signed with a keychain access group.
            public static let dataProtection = Keychain(isDataProtection: true)
            /// The login keychain of macOS, for tools and tests without a signature. This keychain ignores accessibility and access group.
            @available(iOS, unavailable)
            @available(tvOS, unavailable)
            @available(watchOS, unavailable)
            @available(visionOS, unavailable)
            public static var fileBased: Keychain { Keychain(isDataProtection: false) }
        }

        private let item: KeychainItem
        private let attributes: SecItemAttributes

        /// Creates a store. The initializer reads and writes nothing.
        /// - Parameters:
        ///   - service: The name under which the app stores its session, such as its bundle identifier.
        ///   - account: A name that distinguishes several sessions of one app.
        ///   - accessGroup: The group that the app shares with its extensions, with its team prefix; `nil` for the app's default group.
        ///   - accessibility: Determines when the item can be read.
        ///   - keychain: The keychain that holds the item.
        public init(
            service: String,
            account: String = "session",
            accessGroup: String? = nil,
            accessibility: Accessibility = .afterFirstUnlockThisDeviceOnly,
            keychain: Keychain = .dataProtection
        ) {
            attributes = SecItemAttributes(
                service: service,
                account: account,
                accessGroup: accessGroup,
                accessibility: accessibility.value,
                usesDataProtection: keychain.isDataProtection
            )
            item = KeychainItem(attributes, functions: KeychainServices())
        }

        /// Returns the credentials; `nil` if there is no item, or if the item contains other data.
        /// - Throws: ``Failure``.
        public func load() async throws -> Credentials? {
            try await reportingFailure { try await item.credentials() }
        }

        /// Stores credentials, which replace the earlier credentials; `nil` removes them.
        /// - Parameter credentials: The new credentials; `nil` removes the item.
        /// - Throws: ``Failure``.
        public func save(_ credentials: Credentials?) async throws {
            try await reportingFailure { try await item.store(credentials) }
        }

        /// Returns a store for another item of the same service. The account name of this item ends in the given name.
        /// - Parameter name: The end of the account name: lowercase letters and hyphens.
        public func secretStore(named name: String) -> any SecretStore {
            var other = attributes
            other.account += "." + name
            return KeychainItem(other, functions: KeychainServices())
        }

        /// Runs a closure and converts its errors to the public type.
        private func reportingFailure<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
            do {
                return try await body()
            } catch let failure as KeychainItem.Failure {
                throw Failure(status: failure.status.rawValue)
            }
        }
    }

    /// The functions of the Security framework.
    private struct KeychainServices: SecItemFunctions {
        func add(_ attributes: SecItemAttributes, data: Data) -> SecItemStatus {
            var item = dictionary(attributes)
            item[kSecValueData] = data
            return SecItemStatus(rawValue: SecItemAdd(item as CFDictionary, nil))
        }

        func copyMatching(_ query: SecItemAttributes) -> (SecItemStatus, Data?) {
            var query = dictionary(query)
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var item: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &item)
            return (SecItemStatus(rawValue: status), item as? Data)
        }

        func update(_ query: SecItemAttributes, accessibility: SecItemAttributes.Accessibility?, data: Data) -> SecItemStatus {
            var changes: [CFString: Any] = [kSecValueData: data]
            if let accessibility { changes[kSecAttrAccessible] = constant(accessibility) }
            return SecItemStatus(rawValue: SecItemUpdate(dictionary(query) as CFDictionary, changes as CFDictionary))
        }

        func delete(_ query: SecItemAttributes) -> SecItemStatus {
            SecItemStatus(rawValue: SecItemDelete(dictionary(query) as CFDictionary))
        }

        /// Returns the attributes in the form of the Security framework.
        private func dictionary(_ attributes: SecItemAttributes) -> [CFString: Any] {
            var dictionary: [CFString: Any] = [
                kSecClass: kSecClassGenericPassword,
                kSecAttrService: attributes.service,
                kSecAttrAccount: attributes.account,
            ]
            if attributes.usesDataProtection { dictionary[kSecUseDataProtectionKeychain] = true }
            if let accessGroup = attributes.accessGroup { dictionary[kSecAttrAccessGroup] = accessGroup }
            if let accessibility = attributes.accessibility { dictionary[kSecAttrAccessible] = constant(accessibility) }
            return dictionary
        }

        private func constant(_ accessibility: SecItemAttributes.Accessibility) -> CFString {
            switch accessibility {
            case .whenUnlocked: kSecAttrAccessibleWhenUnlocked
            case .afterFirstUnlock: kSecAttrAccessibleAfterFirstUnlock
            case .whenUnlockedThisDeviceOnly: kSecAttrAccessibleWhenUnlockedThisDeviceOnly
            case .afterFirstUnlockThisDeviceOnly: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
            case .whenPasscodeSetThisDeviceOnly: kSecAttrAccessibleWhenPasscodeSetThisDeviceOnly
            }
        }
    }
#endif
