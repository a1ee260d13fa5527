import AccountContract
import AccountCore
import ArgumentParser
import Foundation
import SQLiteStores

/// Which account a command is about.
struct AccountOptions: ParsableArguments {
    @Argument(help: ArgumentHelp("The e-mail address of the account.", valueName: "address"))
    var email: String?

    @Option(help: "The id of the account, in place of its address.")
    var id: String?

    func validate() throws {
        guard (email == nil) != (id == nil) else { throw ValidationError("name the account by its address or by --id") }
    }

    /// The account.
    /// - Throws: `ExitCode` 1 if there is none.
    func account(in stores: Stores) async throws -> Account {
        if let email {
            guard let address = try? EmailAddress(email) else { throw ValidationError("“\(email)” is no e-mail address") }
            if let account = try await stores.accounts.account(email: address) { return account }
        } else {
            guard let uuid = id.flatMap({ UUID(uuidString: $0) }) else {
                throw ValidationError("--id is no id, as `users list` shows it")
            }
            if let account = try await stores.accounts.account(id: Account.ID(rawValue: uuid)) { return account }
        }
        Terminal.complain("There is no such account.")
        throw ExitCode.failure
    }
}
