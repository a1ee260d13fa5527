import AccountCore
import AccountServer
import ArgumentParser
import Foundation

extension Users {
    /// `holdfast users suspend`
    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take an account out of use: its sessions and links end at once, and a reset does not undo it."
        )

        @OptionGroup var which: AccountOptions
        @OptionGroup var data: DataOptions

        func run() async throws { try await change(which, .suspended, .suspended, in: data) }
    }

    /// `holdfast users deactivate`
    struct Deactivate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Close an account: like suspend, and the person is told so.")

        @OptionGroup var which: AccountOptions
        @OptionGroup var data: DataOptions

        func run() async throws { try await change(which, .inactive, .deactivated, in: data) }
    }

    /// `holdfast users activate`
    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Put an account back into use; a frozen one too.")

        @OptionGroup var which: AccountOptions
        @OptionGroup var data: DataOptions

        func run() async throws { try await change(which, .active, .activated, in: data) }
    }
}

/// Changes the state of an account, takes note of it, and says so.
private func change(
    _ which: AccountOptions,
    _ state: Account.State,
    _ kind: AuditEvent.Kind,
    in data: DataOptions
) async throws {
    let stores = try await data.existingStores()
    let account = try await which.account(in: stores)
    guard account.state != state else {
        Terminal.say("\(account.id) is \(state.rawValue) already")
        return
    }
    guard try await stores.accounts.setState(state, of: account.id) else { throw ExitCode.failure }
    try await stores.audit.append([AuditEvent(kind: kind, accountID: account.id, time: Date(), origin: .none)])
    Terminal.say("\(account.id) is \(state.rawValue)")
}
