public import AccountContract
import Crypto
public import Foundation

/// Issues and reads device tokens. A device token proves that a device has signed in to an account, or has confirmed a password reset of
/// the account.
///
/// A device token never authenticates a user. If a sign-in has a valid device token, a wrong password counts for the limit `login-device`
/// instead of `login-failures`. So failed attempts of other clients can't lock the owner out.
///
/// A token is the base64url text of 72 bytes: the account's id (16), the device's id (16), the account's epoch (4), the expiry in seconds
/// since 1970 (4), and the HMAC-SHA256 of the other fields (32). A lock or a new password increases the epoch of the account; see
/// ``Account/epoch``. All tokens with an earlier epoch are then invalid.
public struct DeviceTokens: Sendable {
    /// The contents of a valid token.
    public struct Claims: Hashable, Sendable {
        /// The account that the device signed in to.
        public let accountID: Account.ID
        /// Identifies the device. All tokens of one session carry the id of that session.
        public let deviceID: UUID
        fileprivate let epoch: UInt32

        /// Returns whether the token was issued for an account in its current epoch. Only the lowest 32 bits of the epoch are compared.
        public func belong(to account: Account) -> Bool {
            account.id == accountID && UInt32(truncatingIfNeeded: account.epoch) == epoch
        }
    }

    /// The lifetime of a token: 180 days.
    public static let lifetime: Duration = .seconds(180 * 86_400)

    private let key: SymmetricKey
    private let previous: SymmetricKey?

    /// Creates an issuer.
    /// - Parameters:
    ///   - keys: The keys that tokens are signed with.
    ///   - previous: The keys of the previous secret, while a secret is being replaced. Tokens that were signed with these keys are also
    ///     accepted.
    public init(keys: ServerKeys, previous: ServerKeys? = nil) {
        (key, self.previous) = (keys.deviceTokens, previous?.deviceTokens)
    }

    /// Returns a new token for an account in its current epoch.
    /// - Parameters:
    ///   - account: The account.
    ///   - device: The id of the device, under which its failed attempts are counted.
    ///   - now: The wall clock, from which the lifetime begins.
    public func issue(for account: Account, device: UUID, at now: Date) -> DeviceToken {
        let expiry = now.timeIntervalSince1970 + Self.lifetime / .seconds(1)
        var bytes = account.id.rawValue.bytes
        bytes.reserveCapacity(72)
        bytes += device.bytes
        bytes += UInt32(truncatingIfNeeded: account.epoch).bytes
        bytes += UInt32(max(0, min(expiry, Double(UInt32.max)))).bytes
        HMAC<SHA256>.authenticationCode(for: bytes, using: key).withUnsafeBytes { bytes.append(contentsOf: $0) }
        guard let token = try? DeviceToken(Base64URL.encoded(bytes)) else { preconditionFailure("72 bytes are 96 letters") }
        return token
    }

    /// Returns whether a token was signed with the present or the previous key. The comparison takes the same time for each signature.
    private func isSigned(_ bytes: [UInt8]) -> Bool {
        [key, previous].contains { key in
            key.map { HMAC<SHA256>.isValidAuthenticationCode(bytes[40...], authenticating: bytes[..<40], using: $0) } ?? false
        }
    }

    /// Verifies a token and returns its contents.
    /// - Returns: `nil` if it was not issued by this server, or has expired.
    public func read(_ token: DeviceToken, at now: Date) -> Claims? {
        guard token.rawValue.utf8.count == 96, let bytes = Base64URL.decoded(token.rawValue),
            isSigned(bytes),
            Double(UInt32(bytes: bytes[36..<40])) > now.timeIntervalSince1970
        else { return nil }
        return Claims(
            accountID: Account.ID(rawValue: UUID(bytes: bytes[..<16])),
            deviceID: UUID(bytes: bytes[16..<32]),
            epoch: UInt32(bytes: bytes[32..<36])
        )
    }
}

extension UUID {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: uuid) { Array($0) } }

    fileprivate init(bytes: ArraySlice<UInt8>) {
        var value: uuid_t = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        withUnsafeMutableBytes(of: &value) { $0.copyBytes(from: bytes) }
        self.init(uuid: value)
    }
}

extension UInt32 {
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: bigEndian) { Array($0) } }

    fileprivate init(bytes: ArraySlice<UInt8>) {
        self = bytes.reduce(0) { $0 << 8 | UInt32($1) }
    }
}
