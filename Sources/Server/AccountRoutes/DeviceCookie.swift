import AccountContract
import AccountCore
import HTTPTypes
import Hummingbird

/// The cookie in which a browser stores its device token: sent to this host alone, over TLS, and not readable by scripts.
enum DeviceCookie {
    static let name = "__Host-device"

    /// The device token of a request, if it has the cookie.
    static func token(in request: Request) -> DeviceToken? {
        request.cookies[name].flatMap { try? DeviceToken($0.value) }
    }

    /// The value of `Set-Cookie` that stores a device token.
    static func field(_ token: DeviceToken) -> String {
        let seconds = DeviceTokens.lifetime.components.seconds
        return "\(name)=\(token.rawValue); Path=/; Max-Age=\(seconds); Secure; HttpOnly; SameSite=Strict"
    }
}
