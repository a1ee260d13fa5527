import AccountContract
import AccountCore
import ErrorContract
import Foundation
import Pages
import Testing

@testable import AccountServer
@testable import HoldfastCommand

/// The link of an email, for a page.
struct MailedLink: Sendable {
    /// The change that the link makes.
    let change: AccountPage.Change
    /// The token.
    let token: String
    /// The address that the link was sent to.
    let recipient: String

    /// The path of the page with the query of the link.
    var path: String { "/\(change.purpose.page)?token=\(token)&email=\(recipient.replacing("@", with: "%40"))" }
    /// The fields with which the page's form makes the change. The account has the password of ``TestServer/register(_:name:)``.
    var fields: String {
        switch change {
        case .verifyEmail, .confirmEmail: "token=\(token)&current_password=correct+horse+battery"
        case .activate: "token=\(token)&new_password=a+good+new+password&confirm_password=a+good+new+password"
        case .undoEmail, .keepAccount: "token=\(token)"
        }
    }
}

extension TestServer {
    /// Creates an account with a change that waits for its link, and returns the link of the email. The server must have blind
    /// registration.
    /// - Parameters:
    ///   - change: The change. For ``AccountPage/Change/undoEmail``, the present address is `new.` and the address.
    ///   - email: The address of the account.
    func mailedLink(for change: AccountPage.Change, email: String = "ana@example.com") async throws -> MailedLink {
        var recipient = email
        switch change {
        case .verifyEmail:
            try await addUnverified(email)
            #expect(try await post(AccountPath.requestVerification, #"{"email":"\#(email)"}"#).status == 200)
        case .activate:
            let body = #"{"email":"\#(email)","first_name":"Ana"}"#
            #expect(try await post(AccountPath.register, body).status == 202)
        case .confirmEmail, .undoEmail:
            try await register(email)
            let session = try await signIn(email)
            recipient = "new.\(email)"
            let body = #"{"current_password":"correct horse battery","new_email":"\#(recipient)"}"#
            let asked = try await post(AccountPath.changeEmail, body, headers: ["Authorization: Bearer \(session.access)"])
            #expect(asked.status == 200)
            if change == .undoEmail {
                let token = try await token(.confirmEmail, to: recipient)
                let proof = #"{"token":"\#(token)","current_password":"correct horse battery"}"#
                #expect(try await post(AccountPath.confirmEmail, proof).status == 200)
                recipient = email
            }
        case .keepAccount:
            try await register(email)
            let session = try await signIn(email)
            let body = #"{"password":"correct horse battery"}"#
            let deleted = try await post(AccountPath.deleteAccount, body, headers: ["Authorization: Bearer \(session.access)"])
            #expect(deleted.status == 202)
        }
        return MailedLink(change: change, token: try await token(change.purpose, to: recipient), recipient: recipient)
    }

    /// Adds an account with the password `correct horse battery` and an address that is not verified.
    func addUnverified(_ email: String, password: String = "correct horse battery") async throws {
        _ = try await server.accounts.registration.add(
            email: try EmailAddress(email),
            password: try Password(password),
            firstName: try FirstName("Ana"),
            language: .english
        )
    }

    /// Sends a form like a page of this server.
    func send(_ fields: String, to path: String, headers: [String] = []) async throws -> RawHTTP.Answer {
        let headers = ["Content-Type: application/x-www-form-urlencoded"] + headers
        return try await RawHTTP.send("POST", path, to: url, headers: headers, body: Array(fields.utf8))
    }

    /// Returns the status of a sign-in.
    func signInStatus(_ email: String, _ password: String = "correct horse battery") async throws -> Int {
        try await post(AccountPath.login, #"{"email":"\#(email)","password":"\#(password)"}"#).status
    }

    /// Returns the status of a request with an access token.
    func meStatus(_ access: String) async throws -> Int {
        try await RawHTTP.send("GET", AccountPath.me, to: url, headers: ["Authorization: Bearer \(access)"]).status
    }
}
