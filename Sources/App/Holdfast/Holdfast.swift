/// Imports the libraries that most apps need: the client, errors, limits, accounts and their screens.
///
/// ```swift
/// import Foundation
/// import Holdfast
///
/// struct Note: Decodable {
///     var title: String
/// }
///
/// func notes(at url: URL) async throws(APIError) -> [Note] {
///     try await APIClient(baseURL: url).get("/notes")
/// }
/// ```
///
/// The module also exports `HTTPTypes`, because `HTTPFields` and `HTTPRequest.Method` are parameters of the client. It doesn't export
/// Foundation. In a file that uses `URL` or `Date`, import Foundation or SwiftUI. The module doesn't include `HoldfastTesting` and
/// `ErrorLabContract`, because a released app needs neither.
///
/// The module doesn't include `OfflineQueue` and `OfflineQueueUI` either. If an app stores requests while it is offline, also import these
/// two modules.
///
/// A target that needs less can import a single library, such as `HoldfastURLSession` for a client without accounts.
@_exported public import AccountContract
@_exported public import AccountKit
@_exported public import AccountUI
@_exported public import ErrorContract
@_exported public import HTTPTypes
@_exported public import HoldfastURLSession
@_exported public import RateLimiting
@_exported public import ResilientHTTP
@_exported public import StrictJSON
@_exported public import Timekeeping
