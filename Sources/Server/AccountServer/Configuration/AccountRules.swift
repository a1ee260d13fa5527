public import AccountCore

/// The rules for the registration of accounts, the verification of their addresses, and their removal.
///
/// ```swift
/// configuration.accountRules.registration = .blind
/// configuration.accountRules.deletionGraceDays = 30
/// ```
public struct AccountRules: Hashable, Sendable {
    /// The way in which clients can register: `open` by default. `REGISTRATION`.
    ///
    /// With `open`, the response to a registration contains a session. With `blind`, the response contains no session, so apps that decode
    /// a session from it need an update. In return, no response reveals whether an address has an account, and only the owner of an address
    /// can create an account with this address. With `closed`, clients can't register.
    public var registration = Registration.Mode.open
    /// Whether users can sign in only if the address of their account is verified: no by default. `REQUIRE_VERIFIED_EMAIL`.
    public var requiresVerifiedEmail = false
    /// The number of days after which the server removes an unverified account that has not been used. The default, 0, means never.
    /// `UNVERIFIED_DAYS`.
    public var unverifiedDays = 0
    /// The number of days between the deletion of an account and its removal: 7 by default; with 0, the server removes the account within
    /// seconds. `DELETION_GRACE_DAYS`.
    public var deletionGraceDays = 7
    /// Whether the server sends an email after the first sign-in from a device of a new family: yes by default. The server derives the
    /// family from the `User-Agent`: the operating system and, for a browser, the name of the browser. `NEW_DEVICE_EMAILS`.
    public var sendsNewDeviceEmails = true

    /// Creates the default rules.
    public init() {}

    /// Reads the settings.
    init(_ settings: inout SettingReader) {
        registration = settings.choice("REGISTRATION", ["open": .open, "blind": .blind, "closed": .closed], default: .open)
        requiresVerifiedEmail = settings.boolean("REQUIRE_VERIFIED_EMAIL", default: false)
        unverifiedDays = settings.integer("UNVERIFIED_DAYS", in: 0...3_650, default: 0)
        deletionGraceDays = settings.integer("DELETION_GRACE_DAYS", in: 0...365, default: 7)
        sendsNewDeviceEmails = settings.boolean("NEW_DEVICE_EMAILS", default: true)
    }

    /// The rules of sign-ins.
    var signIn: SignInRules {
        SignInRules(requiresVerifiedEmail: requiresVerifiedEmail, sendsNewDeviceEmails: sendsNewDeviceEmails)
    }

    /// The time between the deletion of an account and its removal.
    package var deletionGrace: Duration { .seconds(deletionGraceDays * 86_400) }

    /// The time between two searches for accounts to remove.
    var purgeInterval: Duration { deletionGraceDays == 0 ? .seconds(1) : .seconds(60) }
}
