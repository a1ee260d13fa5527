import AccountContract
import Email
import Foundation

/// Guesses the password of one account from many networks, and the same for an address without an account.
public struct LoginFailures: Attack {
    public static let name = "login-failures"
    public static let abstract = "Send 300 wrong passwords for one account from 30 networks."

    public var settings: [String: String] { [:] }
    private let networks: Int

    public init(size: AttackSize) {
        networks = size.pick(small: 10, full: 30, tenfold: 300)
    }

    public func run(on server: AttackedServer, progress: AttackProgress) async throws -> AttackReport {
        let people = try await server.people(2)
        // Names of equal length, so that their calls are comparable.
        let (owner, neighbor, nobody) = (people[0], people[1], "x" + people[0].dropFirst())
        // The devices of the two owners. The first owner's device signs in from ten networks in turn, like a phone.
        let device = try await deviceToken(server.signIn(owner, from: ClientAddresses.network24(400)))
        let foreign = try await deviceToken(server.signIn(neighbor, from: ClientAddresses.network24(401)))

        var (known, unknown, owners, differing) = (Tally(), Tally(), Tally(), 0)
        for guess in 0..<10 {
            for network in 0..<networks {
                // From two networks with the same limits.
                let password = "guess \(guess)"
                let one = try await server.signIn(owner, password: password, from: ClientAddresses.network48(network))
                let other = try await server.signIn(nobody, password: password, from: ClientAddresses.network48(10_000 + network))
                known.add(one.status)
                unknown.add(other.status)
                if one.comparable != other.comparable { differing += 1 }
            }
            owners.add(try await signIn(server, owner, device, from: 410 + guess).status)
            progress("\((guess + 1) * networks) guesses: \(known)")
        }

        var report = AttackReport()
        let isBounded = known[401] == 50 && known[429] == known.total - 50
        report.require("50 guesses are checked, the others are refused", counted: "\(known)", isBounded)
        report.require("an unknown address gets the same responses", counted: "\(differing) differ, \(unknown)", differing == 0)
        report.require("the owner with a device token signs in", served: owners, percent: 100)

        var others = Tally()
        for token in [foreign, String(device.reversed()), ""] {
            others.add(try await signIn(server, owner, token, from: 420).status)
        }
        let areRefused = others[429] == others.total
        report.require("a foreign, garbled or missing device token counts as none", counted: "\(others)", areRefused)

        let link = try await resetLink(server, owner, from: ClientAddresses.network24(430))
        let body = #"{"token":"\#(link.token.rawValue)","new_password":"another horse battery"}"#
        let client = ClientAddresses.network24(430)
        let new = try deviceToken(await server.call("POST", AccountPath.confirmPasswordReset, body: body, from: client))
        var back = Tally()
        back.add(try await signIn(server, owner, new, password: "another horse battery", from: 430).status)
        report.require("the owner without a device token gets in by a reset", served: back, percent: 100)
        let void = try await signIn(server, owner, device, password: "another horse battery", from: 431).status
        report.require("the reset voids the other device tokens", counted: "\(void)", void == 429)
        return report
    }

    private func signIn(
        _ server: AttackedServer,
        _ email: String,
        _ device: String,
        password: String = AttackedServer.password,
        from network: Int
    ) async throws -> AttackedServer.Response {
        let body = #"{"email":"\#(email)","password":"\#(password)","device_token":"\#(device)"}"#
        return try await server.call("POST", AccountPath.login, body: body, from: ClientAddresses.network24(network))
    }

    private func deviceToken(_ response: AttackedServer.Response) throws -> String {
        struct Body: Decodable {
            let token: String

            enum CodingKeys: String, CodingKey { case token = "device_token" }
        }
        return try JSONDecoder().decode(Body.self, from: Data(response.body)).token
    }

    /// Requests a reset and returns the link of its email.
    private func resetLink(_ server: AttackedServer, _ email: String, from client: String) async throws -> ResetLink {
        _ = try await server.call("POST", AccountPath.requestPasswordReset, body: #"{"email":"\#(email)"}"#, from: client)
        let mailbox = try MailboxFolder(directory: server.folder.appending(path: "data/mailbox"), now: { Date() })
        _ = try await server.wait { _ in try !mailbox.resetLinks(to: email).isEmpty }
        guard let link = try mailbox.resetLinks(to: email).first else {
            throw AttackedServer.Failure(description: "no email came in time")
        }
        return link
    }
}

extension AttackedServer.Response {
    /// Status, fields and body, without values that differ between any two responses.
    fileprivate var comparable: [String] {
        let body =
            String(decoding: self.body, as: UTF8.self)
            .replacing(/"request_id":"[^"]*"/, with: "").replacing(/"timestamp":"[^"]*"/, with: "")
            .replacing(/"retry_after":\d+/, with: "").replacing(/\d+ (?:second|minute|hour)s?/, with: "")
        // The delay is also in the text of a refusal, so that the length changes with it.
        let changing = ["x-request-id", "date", "retry-after"] + (status == 429 ? ["content-length"] : [])
        let fields = fields.filter { !changing.contains($0.key) }
        return ["\(status)"] + fields.map { "\($0.key): \($0.value.replacing(/;t=\d+/, with: ""))" }.sorted() + [body]
    }
}
