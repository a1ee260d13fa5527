import AccountContract
public import AccountCore
import ErrorContract
import Foundation
import HTTPTypes
public import Hummingbird
import Logging
import Observability
import OpenAPI
public import Pages
public import ServerMiddleware
import Timekeeping

/// The pages behind the links that reset a password and lock an account. A GET request changes nothing, so that link scanners can open the
/// pages. Only a submitted form makes the change.
///
/// Use these routes together with ``RecoveryRoutes``, which serves apps and the script of the page, and with ``AccountPageRoutes``. All
/// responses are pages, including errors. They have `Cache-Control: no-store` and a content security policy with a new nonce. The server
/// accepts forms only from its own pages.
///
/// ```swift
/// RecoveryPageRoutes<AppContext>(
///     recovery: recovery,
///     lock: lock,
///     environment: environment,
///     templates: templates,
///     origins: origins
/// ).add(to: router)
/// ```
public struct RecoveryPageRoutes<Context: LimitedRequestContext>: Sendable {
    /// Requests, validates and confirms password resets.
    private let recovery: PasswordRecovery
    /// Locks accounts.
    private let lock: AccountLock
    private let environment: RouteEnvironment
    /// Returns pages as responses.
    private let pages: PageResponder

    /// Creates the routes.
    /// - Parameters:
    ///   - recovery: The service behind the routes.
    ///   - lock: The service that locks an account with the token of a link in a confirmation email.
    ///   - environment: The parts that the route types share.
    ///   - templates: Renders the pages.
    ///   - origins: Refuses forms of other sites.
    public init(
        recovery: PasswordRecovery,
        lock: AccountLock,
        environment: RouteEnvironment,
        templates: PageTemplates,
        origins: OriginGuard
    ) {
        self.recovery = recovery
        self.lock = lock
        self.environment = environment
        pages = PageResponder(templates: templates, origins: origins, localization: environment.localization)
    }

    /// Adds the routes to a router or a group. Errors are converted to pages here, so no middleware for errors is needed.
    public func add(to router: some RouterMethods<Context>) {
        router.add(RecoveryPageOperation.self, in: environment) { operation in
            { request, context in
                switch operation {
                case .openResetPage: await pages.page(request, context) { try await openReset($0) }
                case .sendResetForm: await pages.respond(request, context) { try await sendReset($0, context) }
                case .sendRequestForm: await pages.page(request, context) { try await sendRequest($0, context) }
                case .openFreezePage: await pages.page(request, context) { try await openLock($0) }
                case .sendFreezeForm: await pages.page(request, context) { try await sendLock($0, context) }
                }
            }
        }
    }

    /// Returns the page of a reset link: the form for a valid token, or the notice that the link has expired.
    private func openReset(_ request: Request) async throws -> RecoveryPage.Kind {
        guard PageQuery(request).namesLink else { return .undecided }
        guard let link = PageQuery(request).resetLink else { return .invalidLink }
        do {
            let (account, _) = try await recovery.validate(link.token, email: link.email)
            return .reset(link: link, name: account.firstName.rawValue, problem: nil)
        } catch let error as AccountError where error == .resetTokenInvalid {
            return .deadLink(email: link.email?.text ?? "")
        }
    }

    /// Sets a new password. If the input is invalid, the page shows the form again, and the token stays valid.
    ///
    /// The limits count the request after its body was decoded. The method validates the link before the password. So if the link has
    /// expired, the page reports the expiry, even if the password is also weak.
    /// - Throws: `ContractError` if the body can't be decoded or a limit refuses the request; an error of the store.
    /// - Returns: The page, and the device token of the browser if the password was changed.
    private func sendReset(_ request: Request, _ context: Context) async throws -> (RecoveryPage.Kind, DeviceToken?) {
        let form = try await environment.reader.read(ResetForm.self, from: request)
        try await environment.limits.admit(in: context)
        let typed = form.email.flatMap { $0.isEmpty ? nil : $0 }
        let email = typed.flatMap { try? EmailAddress($0) }
        guard let token = try? ResetToken(form.token), (email == nil) == (typed == nil) else { return (.invalidLink, nil) }
        let link = ResetLink(token: token, email: email)
        do {
            let (account, _) = try await recovery.validate(token, email: link.email)
            let again = { (problem: LocalizedText?) -> (RecoveryPage.Kind, DeviceToken?) in
                (.reset(link: link, name: account.firstName.rawValue, problem: problem), nil)
            }
            switch RepeatedPassword(form.newPassword, form.confirmPassword) {
            case .problem(let text): return again(text)
            case .password(let password):
                do {
                    return (.changed, try await recovery.confirm(token, email: link.email, newPassword: password))
                } catch let error as AccountError where error.code == .authWeakPassword {
                    return again(error.weaknesses.first?.message)
                }
            }
        } catch let error as AccountError where error.code == .authResetTokenInvalid {
            return (.deadLink(email: form.email ?? ""), nil)
        }
    }

    /// Queues an email with a reset link. The page is the same whether or not the address has an account.
    ///
    /// If the address is invalid, the page shows the form again, and the request costs no quota.
    private func sendRequest(_ request: Request, _ context: Context) async throws -> RecoveryPage.Kind {
        let form = try await environment.reader.read(ResetRequestForm.self, from: request)
        do {
            let email = try EmailAddress(form.email)
            let admission = try await environment.admitReset(of: email, request, in: context)
            try await admission.committing {
                try await recovery.request(email: email, language: environment.localization.language(of: request))
            }
            return .requested
        } catch let refusal as EmailRefusal {
            return .requestProblem(email: form.email, refusal == .empty ? ContractText.emailMissing : ContractText.emailMalformed)
        }
    }

    /// Returns the page that asks whether to lock an account. Opening the page doesn't lock the account.
    private func openLock(_ request: Request) async throws -> RecoveryPage.Kind {
        guard PageQuery(request).namesLink else { return .lockUndecided }
        guard let token = PageQuery(request).resetLink?.token else { return .invalidLink }
        guard let account = try await found({ try await lock.account(token) }) else { return .deadLink(email: "") }
        return .lock(token: token, name: account.firstName.rawValue)
    }

    /// Locks an account.
    ///
    /// If the token is expired or used, the response has the status 410, and its page offers to request a new link.
    /// - Throws: `ContractError` if the body can't be decoded or a limit refuses the request; an error of the store.
    private func sendLock(_ request: Request, _ context: Context) async throws -> RecoveryPage.Kind {
        let form = try await environment.reader.read(AccountLockForm.self, from: request)
        try await environment.limits.admit(in: context)
        guard let token = try? ResetToken(form.token) else { return .invalidLink }
        // If the form is submitted a second time, the page offers to request a new link.
        return try await found { try await lock.lock(token) } == nil ? .deadLink(email: "") : .locked
    }

    /// Returns the result of the closure; `nil` if the closure throws the error for an invalid token.
    private func found<Value>(_ body: () async throws -> Value) async throws -> Value? {
        do {
            return try await body()
        } catch let error as AccountError where error.code == .authResetTokenInvalid {
            return nil
        }
    }
}
