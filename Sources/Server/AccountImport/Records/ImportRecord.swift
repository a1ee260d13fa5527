import AccountContract
public import AccountCore
public import ErrorContract
public import Foundation
import PasswordHashes

/// A user of another system, with the values of the file. ``AccountCore/Account/init(_:language:now:)`` validates the values later.
public struct ImportRecord: Hashable, Sendable {
    /// The place of the record in the file, such as `line 12` of a text or `object 3` of a dump. Messages for the operator contain the
    /// place.
    public let place: String
    /// The address, as in the file.
    public var email: String
    /// The first name. If it is `nil` or empty, the account gets the part of the address before the `@` as its name.
    public var firstName: String?
    /// The hash of another system: PBKDF2 in Django's notation, bcrypt, or Argon2id. If the hash is `nil` or empty, or begins with `!`, the
    /// user must reset the password before the first sign-in.
    public var passwordHash: String?
    /// The state: `active`, `inactive` or `suspended`. `true`, `t` and `1` also mean active; `false`, `f` and `0` mean inactive. If the
    /// value is `nil` or empty, the account is active.
    public var state: String?
    /// Whether the user is active, as text: `true`, `t`, `1`, `yes` or `y` for yes, and `false`, `f`, `0`, `no` or `n` for no. If the text
    /// means no, an active user becomes inactive. `nil` doesn't change the state.
    public var isActive: String?
    /// Whether the address is verified, with the same texts as ``isActive``. If the value is `nil` or empty, the address is verified.
    public var isEmailVerified: String?
    /// The language of emails, such as `es` or `pt_BR`. If it is `nil` or empty, the account gets the default language of the import.
    public var locale: String?

    /// Creates a record.
    /// - Parameters:
    ///   - place: The place of the record, for the operator.
    ///   - email: The address.
    ///   - firstName: The first name; `nil` for the part of the address before the `@`.
    ///   - passwordHash: The hash of another system; `nil` if there is none.
    ///   - state: `active`, `inactive` or `suspended`; `nil` is active.
    ///   - isActive: Whether the user is active, as text.
    ///   - isEmailVerified: Whether the address is verified, as text; `nil` for yes.
    ///   - locale: The language of emails; `nil` for the default.
    public init(
        place: String,
        email: String,
        firstName: String? = nil,
        passwordHash: String? = nil,
        state: String? = nil,
        isActive: String? = nil,
        isEmailVerified: String? = nil,
        locale: String? = nil
    ) {
        self.place = place
        self.email = email
        self.firstName = firstName
        self.passwordHash = passwordHash
        self.state = state
        self.isActive = isActive
        self.isEmailVerified = isEmailVerified
        self.locale = locale
    }
}

extension ImportRecord {
    /// Returns the state of a user of a file with deletion times. A deleted user is inactive, except a suspended user, who stays suspended.
    /// Otherwise, an operator who activates a deleted user later would not see that the user was suspended.
    /// - Parameters:
    ///   - state: The state in the file; `nil` if there is none.
    ///   - isDeleted: Whether the user has a deletion time.
    static func state(_ state: String?, isDeleted: Bool) -> String? {
        isDeleted && Account.State(imported: state) != .suspended ? "inactive" : state
    }
}

/// The reason why a record can't become an account. The import reports the reason, and continues with the next record.
public struct ImportRefusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// The reason, for the operator, without the address and the hash.
    public let description: String

    /// Creates a refusal.
    /// - Parameter description: The reason, without the address and the hash.
    public init(_ description: String) {
        self.description = description
    }
}

extension Account {
    /// Creates the account of an imported user. The initializer doesn't store the account.
    ///
    /// Each call creates a new id, so two imports of one record into two stores create accounts with different ids. The name can be longer
    /// than the names that new users can choose.
    /// - Parameters:
    ///   - record: The record.
    ///   - language: The language of a record without a language.
    ///   - now: The creation time of the account.
    /// - Throws: ``ImportRefusal`` if the address, the name, the state, the language or the hash is invalid.
    public init(_ record: ImportRecord, language: Language, now: Date) throws(ImportRefusal) {
        let email: EmailAddress
        do throws(EmailRefusal) {
            email = try EmailAddress(record.email)
        } catch {
            throw ImportRefusal("the address is invalid (\(error.rawValue))")
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
            createdAt: now,
            isEmailVerified: try Self.isEmailVerified(record)
        )
    }

    /// Returns the state of a record. If `state` and `isActive` disagree, the function uses the stricter value: a record is active only if
    /// each of the two values is active or absent.
    /// - Throws: ``ImportRefusal`` if a value is none of the accepted texts.
    private static func state(_ record: ImportRecord) throws(ImportRefusal) -> State {
        guard let state = State(imported: record.state) else {
            throw ImportRefusal("the state is not one of active, inactive, suspended")
        }
        guard let text = record.isActive, !text.isEmpty else { return state }
        guard let isActive = ImportedFlag(text).isSet else { throw ImportRefusal("is_active is neither yes nor no") }
        return state == .active && !isActive ? .inactive : state
    }

    /// Returns whether the address of a record is verified. Without a value, the address counts as verified, because the other system has
    /// already used it.
    /// - Throws: ``ImportRefusal`` if the value is none of the accepted texts.
    private static func isEmailVerified(_ record: ImportRecord) throws(ImportRefusal) -> Bool {
        guard let text = record.isEmailVerified, !text.isEmpty else { return true }
        guard let isVerified = ImportedFlag(text).isSet else { throw ImportRefusal("email_verified is neither yes nor no") }
        return isVerified
    }

    /// Returns the language of a locale such as `pt_BR`; the default language if there is no locale.
    /// - Throws: ``ImportRefusal`` if the language is not supported.
    private static func language(_ locale: String?, default language: Language) throws(ImportRefusal) -> Language {
        guard let locale, !locale.isEmpty else { return language }
        let asked = locale.replacing("_", with: "-").lowercased()
        let found = Language.supported.first { asked == $0.rawValue || asked.hasPrefix($0.rawValue + "-") }
        guard let found else { throw ImportRefusal("its language is not supported") }
        return found
    }

    /// Returns the stored form of a hash: an Argon2id hash, a hash of another system, or the value for "no password". Django writes `!` if
    /// there is no password.
    /// - Throws: ``ImportRefusal`` if the hash is invalid, unsupported, or so costly that its verification would overload a server.
    private static func hash(_ text: String) throws(ImportRefusal) -> String {
        if text.isEmpty || text.hasPrefix("!") { return unusablePassword }
        if text.hasPrefix("$argon2") {
            guard Argon2id.isAffordable(text) else {
                throw ImportRefusal("the Argon2 hash is damaged, unsupported, or too costly")
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
    /// Creates the state of an imported account; active by default. The import creates no locked accounts, because only users lock their
    /// accounts.
    fileprivate init?(imported text: String?) {
        switch text?.lowercased() ?? "" {
        case "", "active", "true", "1", "t": self = .active
        case "inactive", "false", "0", "f": self = .inactive
        case "suspended": self = .suspended
        default: return nil
        }
    }
}

/// A Boolean value of another system, such as whether a user is active. Decoding never fails, so an unusual value doesn't make a file
/// unreadable.
struct ImportedFlag: Hashable, Sendable, Decodable {
    /// The value as text. A value that is not a text, a number or a Boolean becomes `?`, which means neither yes nor no.
    let text: String

    /// The value for all other types. It means neither yes nor no.
    static let unreadable = ImportedFlag("?")

    /// Creates the value of a text.
    init(_ text: String) {
        self.text = text
    }

    /// Decodes a Boolean, a whole number or a text. Decoding never fails: any other value means neither yes nor no.
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

    /// `true` for yes, `false` for no, and `nil` if the value means neither. In addition to JSON's Booleans, `t`, `1`, `yes` and `y` mean
    /// yes, and `f`, `0`, `no` and `n` mean no. Uppercase and lowercase letters are equal.
    var isSet: Bool? {
        switch text.lowercased() {
        case "true", "t", "1", "yes", "y": true
        case "false", "f", "0", "no", "n": false
        default: nil
        }
    }
}
