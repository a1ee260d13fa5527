import Foundation
import Holdfast

/// The clients of the app: one for the account API, and one for the app's API, which shares the session.
struct AppServices: Sendable {
    let accounts: AccountClient
    let api: APIClient
    /// The HTTP engine, for the error lab.
    let transport: any HTTPTransport

    /// Creates the clients for a server.
    init(baseURL: URL, language: Language, store: any CredentialStore) {
        transport = .urlSession()
        accounts = AccountClient(
            api: APIClient(baseURL: baseURL, language: language, throttle: .appsInTheField),
            store: store
        )
        api = APIClient(baseURL: baseURL, language: language, session: accounts.session, throttle: .appsInTheField)
    }

    /// Creates the clients over another transport and without retries, for tests and previews.
    init(baseURL: URL, language: Language, transport: any HTTPTransport) {
        self.transport = transport
        let plain = APIClient(baseURL: baseURL, transport: transport, language: language, middleware: [])
        accounts = AccountClient(api: plain)
        api = plain.authorized(by: accounts.session)
    }
}
