import AccountContract
import AccountCore
import AccountServer
import ArgumentParser
import ErrorContract
import Foundation
import Logging
import StrictJSON

/// `holdfast users`: adds, lists and changes accounts. The commands use the stores directly, so they also work while a server is running.
struct Users: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Add, list, import, suspend, activate and delete accounts, send reset links, and list events.",
        subcommands: [
            Add.self, List.self, Import.self, Suspend.self, Deactivate.self, Activate.self, Delete.self, SendReset.self,
            Audit.self,
        ]
    )

    /// `holdfast users add`
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add an account.",
            discussion: "The password is read from standard input: typed at a prompt, or piped in as one line."
        )

        @Argument(help: "The email address.")
        var email: String

        @Option(help: "The user's first name.")
        var firstName: String

        @Option(help: "The language of the account's emails: \(Language.supported.map(\.rawValue).joined(separator: ", ")).")
        var locale = "en"

        @Flag(inversion: .prefixedNo, help: "Whether the address is known to belong to the user.")
        var verified = true

        @OptionGroup var data: DataOptions

        /// Validates the options, reads the password and adds the account.
        /// - Throws: `ValidationError` for an invalid option or password; `ExitCode` 1 if the account can't be added.
        func run() async throws {
            let address: EmailAddress
            let name: FirstName
            do {
                address = try EmailAddress(email)
                name = try FirstName(firstName)
            } catch {
                throw ValidationError("“\(email)” or “\(firstName)” is invalid: \(error)")
            }
            guard Language.supported.contains(Language(locale)) else {
                throw ValidationError("--locale must be one of \(Language.supported.map(\.rawValue).joined(separator: ", "))")
            }
            guard let line = Terminal.secretLine(prompt: "Password: "), let password = try? Password(line) else {
                throw ValidationError("the password on standard input is empty")
            }
            try await add(address, name, password)
        }

        /// Adds the account according to the rules of a registration, and prints the id of the account.
        private func add(_ email: EmailAddress, _ name: FirstName, _ password: Password) async throws {
            let configuration = try AccountServerConfiguration.load(data: data.folder, isServing: false)
            // The command uses the stores directly and starts no server. A started server would apply its own rate limits.
            let stores = try await data.stores(configuration)
            let keys = try stores.keys(secret: configuration.secret)
            let logger = Logger.standard(level: .critical)
            let gate = try HashingGate(hashing: Argon2Hashing(), width: 1)
            let authentication = Authentication(
                stores: stores,
                gate: gate,
                tokens: AccessTokens(keys: try stores.signingKeys(configuration, logger: logger), audience: configuration.appName)
                { "" },
                devices: DeviceTokens(keys: keys),
                now: { Date() }
            )
            let registration = Registration(
                authentication: authentication,
                stores: stores,
                gate: gate,
                policy: configuration.passwordPolicy,
                now: { Date() }
            )
            do {
                let account = try await registration.add(
                    email: email,
                    password: password,
                    firstName: name,
                    language: Language(locale),
                    isEmailVerified: verified
                )
                Terminal.say("\(account.id)")
            } catch let error as AccountError {
                let reason = error.weaknesses.first?.message ?? ErrorCatalogue.standard[error.code]?.message
                throw Terminal.failure("\(error.code): \(reason?.text(in: .english) ?? "the account could not be added")")
            }
        }
    }

    /// `holdfast users list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the accounts, oldest first.")

        @Flag(help: "Print JSON, one object per account in an array.")
        var json = false

        @OptionGroup var data: DataOptions

        /// Prints all accounts. The command reads all of them into memory.
        func run() async throws {
            let accounts = try await data.existingStores().accounts.accounts()
            if json {
                let items = accounts.map { account -> JSONValue in
                    [
                        "id": .string(account.id.description), "email": .string(account.email.text),
                        "first_name": .string(account.firstName.rawValue), "state": .string(account.state.name),
                        "locale": .string(account.language.rawValue),
                        "email_verified": .bool(account.isEmailVerified),
                        "created_at": .string(account.createdAt.formatted(.iso8601)),
                        "purge_at": account.purgeAt.map { .string($0.formatted(.iso8601)) } ?? .null,
                    ]
                }
                Terminal.say(String(decoding: JSONValue.array(items).encoded(), as: UTF8.self))
            } else {
                for account in accounts {
                    let state = account.purgeAt == nil ? account.state.name : "deleted"
                    let note = account.isEmailVerified ? "" : "  (unverified)"
                    Terminal.say("\(account.id)  \(state)  \(account.email.text)  \(account.firstName.rawValue)\(note)")
                }
                if accounts.isEmpty { Terminal.complain("There is no account yet.") }
            }
        }
    }
}

/// The account that a command changes or shows.
struct AccountOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The email address of the account.", valueName: "address"))
    var email: String?

    @Option(help: "The id of the account, instead of its address.")
    var id: String?

    /// Requires exactly one of the two options.
    func validate() throws {
        guard (email == nil) != (id == nil) else { throw ValidationError("specify either the address or --id") }
    }

    /// Returns the account.
    /// - Throws: `ExitCode` 1 if the account does not exist.
    func account(in stores: Stores) async throws -> Account {
        if let email {
            guard let address = try? EmailAddress(email) else { throw ValidationError("“\(email)” is not an email address") }
            if let account = try await stores.accounts.account(email: address) { return account }
        } else {
            guard let uuid = id.flatMap({ UUID(uuidString: $0) }) else {
                throw ValidationError("--id is not an id; copy one from 'holdfast users list'")
            }
            if let account = try await stores.accounts.account(id: Account.ID(rawValue: uuid)) { return account }
        }
        throw Terminal.failure("There is no such account; 'holdfast users list' shows all accounts.")
    }
}
