import AccountCore
import AccountServer
import ArgumentParser
import Foundation
import Logging
import StrictJSON

/// `holdfast keys`: lists and changes the keys that sign access tokens.
struct Keys: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List, rotate and retire the keys that sign access tokens.",
        discussion: """
            Access tokens are signed with ES256. Other services verify the tokens with the public keys at /.well-known/jwks.json. The \
            private keys are in the database, encrypted with HOLDFAST_SECRET or the secret of the data folder.

            You don't need to stop a running server: every server uses the change within a second.

            Rotate the key once a year, or as your rules require. After a leak, use 'holdfast keys retire ID --now'.
            """,
        subcommands: [List.self, Rotate.self, Retire.self]
    )

    /// `holdfast keys list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the keys, oldest first.",
            discussion: """
                States: pending (published; signs later), signing (signs new tokens), accepted (signs no longer; its tokens stay valid \
                until they expire), retired (its tokens are refused; listed for 30 days).
                """
        )

        @Flag(help: "Print JSON, one object per key in an array.")
        var json = false

        @OptionGroup var data: DataOptions

        /// Prints the keys.
        func run() async throws {
            let (stores, keys) = try await data.signingKeys()
            let listing = KeyListing(keys: try await keys.stored(), now: stores.wallTime())
            if json {
                Terminal.say(String(decoding: listing.json.encoded(), as: UTF8.self))
            } else {
                for line in listing.lines { Terminal.say(line) }
            }
        }
    }

    /// `holdfast keys rotate`
    struct Rotate: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Replace the key that signs.",
            discussion: """
                The new key is published at once and signs after 360 seconds. Other services may cache the keys for 300 of these seconds. \
                The old key is then accepted for 960 more seconds, until its last token has expired. No token is refused.
                """
        )

        @OptionGroup var data: DataOptions

        /// Publishes a new key, which later replaces the key that signs.
        func run() async throws {
            let (stores, keys) = try await data.signingKeys()
            try await Keys.change(stores) { try await keys.rotate() }
        }
    }

    /// `holdfast keys retire`
    struct Retire: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Retire a key, so that its tokens are refused.",
            discussion: """
                Without --now, the key's tokens are accepted until they expire. A key that signs is rotated first.

                Use --now for a key that has leaked. Every server of this installation then refuses the key's tokens within a second, and \
                another key signs at once. Apps refresh their sessions and continue. Other services refuse the key's tokens when they \
                fetch the keys again: after 300 seconds if they follow Cache-Control, or at once if you restart them.
                """
        )

        @Argument(help: ArgumentHelp("The id as 'holdfast keys list' shows it.", valueName: "id"))
        var id: String

        @Flag(help: "Refuse the key's tokens at once.")
        var now = false

        @OptionGroup var data: DataOptions

        /// Retires a key, at once or when its tokens have expired.
        func run() async throws {
            let (stores, keys) = try await data.signingKeys()
            try await Keys.change(stores) { try await keys.retire(id, isLeaked: now) }
        }
    }

    /// Changes the keys and lists them, or reports why the change is not possible.
    private static func change(_ stores: Stores, _ body: () async throws -> SigningKeySet) async throws {
        do {
            let keys = try await body()
            for line in KeyListing(keys: keys, now: stores.wallTime()).lines { Terminal.say(line) }
        } catch let refusal as SigningKeyRefusal {
            switch refusal {
            case .pending(let key):
                Terminal.complain("The key \(key.id) is published already and signs from \(key.signsFrom.formatted(.iso8601)).")
            case .unknown: Terminal.complain("There is no such key; 'holdfast keys list' shows the ids.")
            case .retired(let time): Terminal.complain("The key's tokens are refused since \(time.formatted(.iso8601)).")
            }
            throw ExitCode.failure
        }
    }
}

extension DataOptions {
    /// Returns the keys in the data of an existing server.
    fileprivate func signingKeys() async throws -> (Stores, SigningKeys) {
        let stores = try await existingStores()
        let configuration = try AccountServerConfiguration.load(data: folder, isServing: false)
        return (stores, try stores.signingKeys(configuration, logger: .standard(level: .critical)))
    }
}

/// The keys as a table and as JSON.
struct KeyListing {
    /// The stored keys.
    let keys: SigningKeySet
    /// The time for which the listing determines the states of the keys.
    let now: Date

    /// The state of a key, as `holdfast keys list --help` describes it.
    enum State: String {
        case pending, signing, accepted, retired
    }

    /// Returns the state of a key.
    func state(of key: SigningKey) -> State {
        if !keys.accepts(key.id, at: now) { return .retired }
        if keys.signer(at: now)?.id == key.id { return .signing }
        return key.signsFrom > now ? .pending : .accepted
    }

    /// A heading and a line for each key, in columns.
    var lines: [String] {
        let rows = keys.keys.map { key in
            [
                key.id, state(of: key).rawValue, key.createdAt.formatted(.iso8601), key.signsFrom.formatted(.iso8601),
                key.retiredAt?.formatted(.iso8601) ?? "-",
            ]
        }
        return Terminal.table([["ID", "STATE", "CREATED", "SIGNS FROM", "REFUSED FROM"]] + rows)
    }

    /// An array of objects.
    var json: JSONValue {
        .array(
            keys.keys.map { key in
                [
                    "id": .string(key.id), "state": .string(state(of: key).rawValue),
                    "created_at": .string(key.createdAt.formatted(.iso8601)),
                    "signs_from": .string(key.signsFrom.formatted(.iso8601)),
                    "refused_from": key.retiredAt.map { .string($0.formatted(.iso8601)) } ?? .null,
                ]
            }
        )
    }
}
