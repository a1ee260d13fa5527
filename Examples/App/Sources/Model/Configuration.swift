import Foundation

/// The values that an app of yours replaces.
enum Configuration {
    /// The server: `make run` in the root of the package serves this address.
    static let server = URL(string: "http://127.0.0.1:8080")
    /// The host of the links in emails, as in the entitlement `applinks:`.
    static let linkHost = "accounts.example.com"
    /// The custom scheme, as in Info.plist.
    static let scheme = "holdfast-example"
}
