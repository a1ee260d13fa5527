import Foundation
import Synchronization
import Testing

@testable import ResilientHTTP

@Suite("Keychain credential store", .timeLimit(.minutes(10))) struct KeychainCredentialStoreTests {
    private let keychain = MemoryKeychain()

    private func item(
        account: String = "session",
        accessGroup: String? = nil,
        accessibility: SecItemAttributes.Accessibility = .afterFirstUnlockThisDeviceOnly,
        usesDataProtection: Bool = true
    ) -> KeychainItem {
        let attributes = SecItemAttributes(
            service: "com.example.app",
            account: account,
            accessGroup: accessGroup,
            accessibility: accessibility,
            usesDataProtection: usesDataProtection
        )
        return KeychainItem(attributes, functions: keychain)
    }

    @Test("Adds the item on the first save and updates it afterwards")
    func roundTrip() async throws {
        #expect(try await item().credentials() == nil)
        try await item().store(.number(1))
        try await item().store(.number(2))
        #expect(try await item().credentials() == .number(2))
        #expect(keychain.calls == ["copy", "update", "add", "update", "copy"])
        #expect(keychain.items.count == 1)
    }

    @Test("Removes the item, also if there is none")
    func removal() async throws {
        try await item().store(nil)
        try await item().store(.number(1))
        try await item().store(nil)
        #expect(try await item().credentials() == nil)
        #expect(keychain.items.isEmpty)
    }

    @Test("An item stores a secret beside the credentials and keeps it after their removal")
    func secret() async throws {
        let secrets = item(account: "session.device-tokens")
        #expect(try await secrets.loadSecret() == nil)
        try await item().store(.number(1))
        try await secrets.saveSecret(Data("secret".utf8))
        try await item().store(nil)
        #expect(try await secrets.loadSecret() == Data("secret".utf8))
        try await secrets.saveSecret(nil)
        #expect(keychain.items.isEmpty)
    }

    @Test("Passes access group and accessibility to the keychain")
    func parameters() async throws {
        try await item(accessGroup: "ABCDE12345.com.example.shared", accessibility: .whenUnlocked).store(.number(1))
        let stored = try #require(keychain.items.keys.first)
        #expect(stored.accessGroup == "ABCDE12345.com.example.shared")
        #expect(stored.accessibility == .whenUnlocked)
        #expect(stored.usesDataProtection)
        #expect(try await item().credentials() == nil, "the app's own group is another one")
    }

    @Test("Finds an item of another accessibility and changes it on save")
    func changedAccessibility() async throws {
        try await item(accessibility: .whenUnlocked).store(.number(1))
        #expect(try await item().credentials() == .number(1))
        try await item().store(.number(2))
        #expect(keychain.items.keys.map(\.accessibility) == [.afterFirstUnlockThisDeviceOnly])
    }

    @Test("Separates several sessions of one app by account")
    func accounts() async throws {
        try await item(account: "first").store(.number(1))
        try await item(account: "second").store(.number(2))
        try await item(account: "first").store(nil)
        #expect(try await item(account: "second").credentials() == .number(2))
    }

    @Test("Uses neither access group nor accessibility in the file-based keychain")
    func fileBased() async throws {
        keychain.isSigned = false
        let item = item(accessGroup: "ABCDE12345.com.example.shared", usesDataProtection: false)
        try await item.store(.number(1))
        try await item.store(.number(2))
        #expect(try await item.credentials() == .number(2))
        let stored = try #require(keychain.items.keys.first)
        #expect(stored.accessGroup == nil && stored.accessibility == nil && !stored.usesDataProtection)
    }

    @Test("Reports the missing entitlement of an unsigned macOS tool with advice")
    func unsigned() async throws {
        keychain.isSigned = false
        let item = item()
        await #expect(throws: KeychainItem.Failure(status: .missingEntitlement)) { try await item.credentials() }
        await #expect(throws: KeychainItem.Failure(status: .missingEntitlement)) { try await item.store(.number(1)) }
        await #expect(throws: KeychainItem.Failure(status: .missingEntitlement)) { try await item.store(nil) }
        #expect(SecItemStatus.missingEntitlement.rawValue == -34018)
        #expect(SecItemStatus.missingEntitlement.description.contains("use the file-based keychain"))
    }

    @Test("Reports a locked device as an error, never as signed out")
    func locked() async throws {
        try await item().store(.number(1))
        keychain.isLocked = true
        await #expect(throws: KeychainItem.Failure(status: .interactionNotAllowed)) { try await item().credentials() }
        await #expect(throws: KeychainItem.Failure(status: .interactionNotAllowed)) { try await item().store(.number(2)) }
        keychain.isLocked = false
        #expect(try await item().credentials() == .number(1))
    }

    @Test("Updates the item that another process adds between update and add")
    func race() async throws {
        keychain.beforeAdd = { attributes in [attributes: Data("{}".utf8)] }
        try await item().store(.number(1))
        #expect(keychain.calls == ["update", "add", "update"])
        #expect(try await item().credentials() == .number(1))
    }

    @Test("Treats an item without valid credentials as absent", arguments: ["", "{}", "\u{0}"])
    func garbage(text: String) async throws {
        let attributes = SecItemAttributes(
            service: "com.example.app",
            account: "session",
            accessGroup: nil,
            accessibility: .whenUnlocked,
            usesDataProtection: true
        )
        #expect(keychain.add(attributes, data: Data(text.utf8)) == .success)
        #expect(try await item().credentials() == nil)
        try await item().store(.number(1))
        #expect(try await item().credentials() == .number(1))
    }

    @Test("Throws the status of a failed call", arguments: ["copy", "update", "add", "delete"])
    func failures(function: String) async throws {
        if function == "update" { try await item().store(.number(1)) }
        keychain.failures[function] = SecItemStatus(rawValue: -25291)
        await #expect(throws: KeychainItem.Failure(status: SecItemStatus(rawValue: -25291))) {
            switch function {
            case "copy": _ = try await item().credentials()
            case "delete": try await item().store(nil)
            default: try await item().store(.number(2))
            }
        }
        #expect(SecItemStatus(rawValue: -25291).description == "keychain status -25291")
    }

    @Test("Reports success without data as undecodable")
    func noData() async throws {
        keychain.failures["copy"] = .success
        await #expect(throws: KeychainItem.Failure(status: .decode)) { try await item().credentials() }
    }

    @Test("Calls keychain services outside of tasks, so that no pool thread waits")
    func threads() async throws {
        try await item().store(.number(1))
        _ = try await item().credentials()
        try await item().store(nil)
        #expect(keychain.calls.count == 4)
        #expect(keychain.callsInTasks == 0)
    }
}

/// A keychain in memory with the rules of the real one: all attributes except the accessibility identify an item.
private final class MemoryKeychain: SecItemFunctions {
    private struct State {
        var items: [SecItemAttributes: Data] = [:]
        var calls: [String] = []
        var callsInTasks = 0
        var failures: [String: SecItemStatus] = [:]
        var isLocked = false
        var isSigned = true
        var beforeAdd: (@Sendable (SecItemAttributes) -> [SecItemAttributes: Data])?
    }
    private let state = Mutex(State())

    var items: [SecItemAttributes: Data] { state.withLock { $0.items } }
    var calls: [String] { state.withLock { $0.calls } }
    var callsInTasks: Int { state.withLock { $0.callsInTasks } }
    /// The statuses that functions return instead of doing anything.
    var failures: [String: SecItemStatus] {
        get { state.withLock { $0.failures } }
        set { state.withLock { $0.failures = newValue } }
    }
    var isLocked: Bool {
        get { state.withLock { $0.isLocked } }
        set { state.withLock { $0.isLocked = newValue } }
    }
    var isSigned: Bool {
        get { state.withLock { $0.isSigned } }
        set { state.withLock { $0.isSigned = newValue } }
    }
    /// Returns the items that another process adds just before this one does.
    var beforeAdd: (@Sendable (SecItemAttributes) -> [SecItemAttributes: Data])? {
        get { state.withLock { $0.beforeAdd } }
        set { state.withLock { $0.beforeAdd = newValue } }
    }

    private func call<Value>(
        _ name: String,
        _ attributes: SecItemAttributes,
        otherwise: (SecItemStatus) -> Value,
        body: (inout State) -> Value
    ) -> Value {
        state.withLock { state in
            state.calls.append(name)
            if withUnsafeCurrentTask(body: { $0 != nil }) { state.callsInTasks += 1 }
            if let failure = state.failures[name] { return otherwise(failure) }
            if attributes.usesDataProtection, !state.isSigned { return otherwise(.missingEntitlement) }
            if state.isLocked { return otherwise(.interactionNotAllowed) }
            return body(&state)
        }
    }

    func add(_ attributes: SecItemAttributes, data: Data) -> SecItemStatus {
        call("add", attributes, otherwise: { $0 }) { state in
            if let others = state.beforeAdd?(attributes) {
                state.items.merge(others) { $1 }
                state.beforeAdd = nil
            }
            guard !state.items.keys.contains(where: { $0.query == attributes.query }) else { return .duplicateItem }
            state.items[attributes] = data
            return .success
        }
    }

    func copyMatching(_ query: SecItemAttributes) -> (SecItemStatus, Data?) {
        call("copy", query, otherwise: { ($0, nil) }) { state in
            guard let found = state.items.first(where: { $0.key.query == query }) else { return (.itemNotFound, nil) }
            return (.success, found.value)
        }
    }

    func update(_ query: SecItemAttributes, accessibility: SecItemAttributes.Accessibility?, data: Data) -> SecItemStatus {
        call("update", query, otherwise: { $0 }) { state in
            guard var found = state.items.keys.first(where: { $0.query == query }) else { return .itemNotFound }
            state.items[found] = nil
            if let accessibility { found.accessibility = accessibility }
            state.items[found] = data
            return .success
        }
    }

    func delete(_ query: SecItemAttributes) -> SecItemStatus {
        call("delete", query, otherwise: { $0 }) { state in
            let matching = state.items.keys.filter { $0.query == query }
            for key in matching { state.items[key] = nil }
            return matching.isEmpty ? .itemNotFound : .success
        }
    }
}
