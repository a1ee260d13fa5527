#if !canImport(SwiftUI)
    // snippet: command-line-account
    import Foundation
    import Holdfast

    extension Lessons {
        static func account(at url: URL) async {
            let accounts = AccountClient(api: APIClient(baseURL: url, language: .preferred()))
            // Calls of the app's own API carry the session's token.
            var api = APIClient(baseURL: url, language: .preferred(), session: accounts.session)
            api.listeners = [
                ClosureListener { event in
                    if case .waiting(let pause, let reason) = event.kind {
                        print("  \(event.endpoint) waits \(pause): \(reason.rawValue)")
                    }
                }
            ]
            do {
                let registration = try await accounts.register(
                    email: EmailAddress("ana@example.com"),
                    password: Password("correct horse battery staple"),
                    firstName: FirstName("Ana")
                )
                print("Hello \(registration.user?.firstName ?? "new user: open the link in the email")")
                let me: [String: AccountUser] = try await api.get("/api/auth/me")
                print("The server knows \(me["user"]?.firstName ?? "no user")")
                // The error lab of the development server fails once, then succeeds.
                _ = try await api.send(
                    .get,
                    "/dev/lab/answer?code=SERVER_SERVICE_UNAVAILABLE&retry_after=1&times=1&session=first"
                )
                print("The call succeeded")
                print(try await accounts.requestPasswordReset(email: EmailAddress("ana@example.com")))
            } catch {
                let shown = APIError(error).presentation(in: api.language, now: Date())
                print("\(shown.title): \(shown.message)")
            }
        }
    }
// snippet end
#endif
