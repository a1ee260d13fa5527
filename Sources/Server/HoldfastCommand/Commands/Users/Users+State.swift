import AccountCore
import AccountServer
import ArgumentParser
import Foundation

extension Users {
    /// `holdfast users suspend`
    struct Suspend: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Suspend an account: its sessions and links end at once.",
            discussion: "Sign-in reports that the account is suspended. Only 'holdfast users activate' undoes this."
        )

        @OptionGroup var which: AccountOptions
        @OptionGroup var data: DataOptions

        /// Suspends the account.
        func run() async throws { try await change(which, .suspended, .suspended, in: data) }
    }

    /// `holdfast users deactivate`
    struct Deactivate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Deactivate an account: its sessions and links end at once.",
            discussion: "Sign-in reports that the account is inactive. Only 'holdfast users activate' undoes this."
        )

        @OptionGroup var which: AccountOptions
        @OptionGroup var data: DataOptions

        /// Deactivates the account.
        func run() async throws { try await change(which, .inactive, .deactivated, in: data) }
    }

    /// `holdfast users activate`
    struct Activate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Activate an inactive, suspended or locked account.")

        @OptionGroup var which: AccountOptions
        @OptionGroup var data: DataOptions

        /// Activates the account. Its user must sign in again.
        func run() async throws { try await change(which, .active, .activated, in: data) }
    }
}

/// Changes the state of an account and records the event, in one transaction, and prints the result.
/// - Parameters:
///   - which: The account.
///   - state: The new state. If the account already has this state, it isn't changed.
///   - kind: The event to record.
///   - data: The location of the data.
/// - Throws: `ExitCode` 1 if the account doesn't exist.
private func change(
    _ which: AccountOptions,
    _ state: Account.State,
    _ kind: AuditEvent.Kind,
    in data: DataOptions
) async throws {
    let stores = try await data.existingStores()
    let account = try await which.account(in: stores)
    guard account.state != state else {
        Terminal.say("\(account.id) is \(state.name) already")
        return
    }
    let event = AuditEvent(kind: kind, accountID: account.id, time: Date(), origin: .none)
    guard try await stores.accounts.setState(state, of: account.id, event: event) else { throw ExitCode.failure }
    Terminal.say("\(account.id) is \(state.name)")
}
