import AccountContract
import AccountCore
import Crypto
import ErrorContract
import Foundation
import Testing

@Suite struct DeviceTokensTests {
    private let tokens = DeviceTokens(keys: ServerKeys(secret: SymmetricKey(data: [UInt8](repeating: 7, count: 32))))
    private let now = Date(timeIntervalSince1970: 1_750_000_000)
    private let device = UUID()
    private let lifetime = 180.0 * 86_400

    private func account(epoch: Int = 0) throws -> Account {
        Account(
            id: Account.ID(rawValue: UUID()),
            email: try EmailAddress("ana@example.com"),
            firstName: try FirstName("Ana"),
            passwordHash: "hash",
            language: .english,
            epoch: epoch,
            createdAt: now
        )
    }

    @Test("Reads an issued token of 96 letters that names account and device", arguments: [0, 1, 4_711])
    func roundTrip(epoch: Int) throws {
        let account = try account(epoch: epoch)
        let token = tokens.issue(for: account, device: device, at: now)
        #expect(token.rawValue.wholeMatch(of: /[A-Za-z0-9_-]{96}/) != nil)
        let claims = try #require(tokens.read(token, at: now))
        #expect(claims.accountID == account.id && claims.deviceID == device && claims.belong(to: account))
    }

    @Test("Refuses a token in another epoch of its account and for another account")
    func otherEpoch() throws {
        var account = try account(epoch: 3)
        let claims = try #require(tokens.read(tokens.issue(for: account, device: device, at: now), at: now))
        #expect(claims.belong(to: account))
        #expect(try !claims.belong(to: self.account(epoch: 3)))
        account.epoch = 4
        #expect(!claims.belong(to: account))
    }

    @Test("A token expires after 180 days, to the second")
    func expiry() throws {
        let token = tokens.issue(for: try account(), device: device, at: now)
        #expect(tokens.read(token, at: now.addingTimeInterval(lifetime - 1)) != nil)
        #expect(tokens.read(token, at: now.addingTimeInterval(lifetime)) == nil)
    }

    @Test("Refuses a token with any one letter changed, added or removed")
    func tampered() throws {
        let token = tokens.issue(for: try account(), device: device, at: now).rawValue
        for index in token.indices {
            var changed = token
            changed.replaceSubrange(index...index, with: token[index] == "A" ? "B" : "A")
            #expect(tokens.read(try DeviceToken(changed), at: now) == nil)
        }
        let others = [
            token + "=", token + "A", "A" + token, String(token.dropLast()), token + token, token.uppercased(), " " + token,
        ]
        for other in others {
            #expect(tokens.read(try DeviceToken(other), at: now) == nil)
        }
    }

    @Test("Refuses a token of another key, such as one signed as an access token")
    func otherKey() throws {
        let other = DeviceTokens(keys: ServerKeys(secret: SymmetricKey(size: .bits256)))
        #expect(tokens.read(other.issue(for: try account(), device: device, at: now), at: now) == nil)
    }
}
