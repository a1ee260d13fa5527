/// The libraries of an app in one import: the client, errors, limits, accounts and their screens.
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
/// `HTTPTypes` is exported as well, because `HTTPFields` and `HTTPRequest.Method` are parameters of the client. Foundation is not exported.
/// In a file that uses `URL` or `Date`, import Foundation or SwiftUI. `HoldfastTesting` and `ErrorLabContract` are not included, because a
/// released app needs neither.
///
/// `OfflineQueue` and `OfflineQueueUI` are not included either. If an app stores requests while it is offline, import these two in
/// addition.
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
