import AccountContract
public import AccountCore
public import ErrorContract
public import Foundation
import PasswordHashes

/// A person of another system, as read.
public struct ImportRecord: Hashable, Sendable {
    /// Where it stands: a line of a text, or which record it is.
    public let place: String
    /// The address as it was written.
    public var email: String
    /// The name; the address's beginning if there is none.
    public var firstName: String?
    /// The hash that another system made; without one a reset is needed.
    public var passwordHash: String?
    /// `active`, `inactive` or `suspended`; active if there is none.
    public var state: String?
    /// Yes or no, in any of the ways that databases write it.
    public var isActive: String?
    /// The language of mails, as `es` or `pt_BR`.
    public var locale: String?

    /// Creates a record.
    public init(
        place: String,
        email: String,
        firstName: String? = nil,
        passwordHash: String? = nil,
        state: String? = nil,
        isActive: String? = nil,
        locale: String? = nil
    ) {
        self.place = place
        self.email = email
        self.firstName = firstName
        self.passwordHash = passwordHash
        self.state = state
        self.isActive = isActive
        self.locale = locale
    }
}

/// Why a record can't become an account.
public struct ImportRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, for the operator; it quotes neither address nor hash.
    public let description: String

    /// Creates a refusal.
    public init(_ description: String) {
        self.description = description
    }
}

extension Account {
    /// The account of an imported person.
    /// - Parameters:
    ///   - record: The record as it was read.
    ///   - language: For a record that names none.
    ///   - now: When the account begins.
    /// - Throws: ``ImportRefusal``.
    public init(_ record: ImportRecord, language: Language, now: Date) throws(ImportRefusal) {
        let email: EmailAddress
        do throws(EmailRefusal) {
            email = try EmailAddress(record.email)
        } catch {
            throw ImportRefusal("the address can't be used (\(error.rawValue))")
        }
        let local = String(email.text.prefix { $0 != "@" })
        let typed = record.firstName.flatMap { $0.trimmingCharacters(in: .whitespacesAndNewlines).isEmpty ? nil : $0 } ?? local
        guard let firstName = try? FirstName(stored: typed) else { throw ImportRefusal("the name can't be used") }
        let state = try Self.state(record)
        let language = try Self.language(record.locale, default: language)
        self.init(
            id: ID(rawValue: UUID()),
            email: email,
            firstName: firstName,
            passwordHash: try Self.hash(record.passwordHash ?? ""),
            state: state,
            language: language,
            createdAt: now
        )
    }

    /// The state of a record; of what two members say the stricter counts.
    private static func state(_ record: ImportRecord) throws(ImportRefusal) -> State {
        guard let state = State(imported: record.state) else {
            throw ImportRefusal("the state is none of active, inactive, suspended")
        }
        guard let text = record.isActive, !text.isEmpty else { return state }
        guard let isActive = ImportedFlag(text).isSet else { throw ImportRefusal("is_active is neither yes nor no") }
        return state == .active && !isActive ? .inactive : state
    }

    private static func language(_ locale: String?, default language: Language) throws(ImportRefusal) -> Language {
        guard let locale, !locale.isEmpty else { return language }
        let asked = locale.replacing("_", with: "-").lowercased()
        let found = Language.supported.first { asked == $0.rawValue || asked.hasPrefix($0.rawValue + "-") }
        guard let found else { throw ImportRefusal("there are no texts in its language") }
        return found
    }

    /// Our own hash, one of another system, or none: Django marks with `!` that there is no password.
    private static func hash(_ text: String) throws(ImportRefusal) -> String {
        if text.isEmpty || text.hasPrefix("!") { return unusablePassword }
        if text.hasPrefix("$argon2") {
            guard Argon2id.isAffordable(text) else {
                throw ImportRefusal("the Argon2 hash is damaged, of another kind, or too costly")
            }
            return text
        }
        do throws(ImportedHash.Refusal) {
            _ = try ImportedHash(text)
            return text
        } catch {
            throw ImportRefusal(error.description)
        }
    }
}

extension Account.State {
    /// The state of a record; without one the account is in use. Nobody is imported frozen: that is an owner's own doing.
    fileprivate init?(imported text: String?) {
        switch text?.lowercased() ?? "" {
        case "", "active", "true", "1", "t": self = .active
        case "inactive", "false", "0", "f": self = .inactive
        case "suspended": self = .suspended
        default: return nil
        }
    }
}

/// Whether a person is in use, as another system has written it.
struct ImportedFlag: Hashable, Sendable, Decodable {
    /// As text: what is no text, number or truth value is kept as one that means neither.
    let text: String

    /// What stands for a value of a type that no flag has.
    static let unreadable = ImportedFlag("?")

    init(_ text: String) {
        self.text = text
    }

    init(from decoder: any Decoder) throws {
        let value = try decoder.singleValueContainer()
        if let isSet = try? value.decode(Bool.self) {
            text = isSet ? "true" : "false"
        } else if let number = try? value.decode(Int.self) {
            text = "\(number)"
        } else {
            text = (try? value.decode(String.self)) ?? Self.unreadable.text
        }
    }

    /// Yes or no; `nil` if it means neither.
    var isSet: Bool? {
        switch text.lowercased() {
        case "true", "t", "1", "yes", "y": true
        case "false", "f", "0", "no", "n": false
        default: nil
        }
    }
}
