import AccountContract
public import AccountCore
import ErrorContract
public import Hummingbird
import OpenAPI
public import Pages
public import ServerMiddleware

/// The pages behind the links that verify an address, create an account, confirm a new address, restore a former address, or restore a
/// deleted account. A GET request changes nothing, so that link scanners can open the pages. Only a submitted form makes the change.
///
/// Use these routes together with ``AccountLinkRoutes``, which serves apps, and with ``RecoveryPageRoutes``. After a user has restored an
/// address, a form of ``RecoveryPageRoutes`` requests a reset link. No page opens a session. After creating an account, the user must
/// therefore sign in.
///
/// ```swift
/// AccountPageRoutes<AppContext>(
///     links: links,
///     registration: registration,
///     environment: environment,
///     templates: templates,
///     origins: origins
/// ).add(to: router)
/// ```
public struct AccountPageRoutes<Context: LimitedRequestContext>: Sendable {
    /// Verifies and confirms addresses, and restores addresses and accounts.
    private let links: AccountLinks
    /// Creates accounts.
    private let registration: Registration
    private let environment: RouteEnvironment
    /// Returns pages as responses.
    private let pages: PageResponder

    /// Creates the routes.
    /// - Parameters:
    ///   - links: The service behind the pages of existing accounts.
    ///   - registration: The service behind the page that creates an account.
    ///   - environment: The parts that the route types share.
    ///   - templates: Renders the pages.
    ///   - origins: Refuses forms of other sites.
    public init(
        links: AccountLinks,
        registration: Registration,
        environment: RouteEnvironment,
        templates: PageTemplates,
        origins: OriginGuard
    ) {
        self.links = links
        self.registration = registration
        self.environment = environment
        pages = PageResponder(templates: templates, origins: origins, localization: environment.localization)
    }

    /// Adds the routes to a router or a group. Errors are converted to pages here, so no middleware for errors is needed.
    public func add(to router: some RouterMethods<Context>) {
        router.add(AccountPageOperation.self, in: environment) { operation in
            { request, context in
                await pages.page(request, context) { .account(try await page(of: operation, $0, context)) }
            }
        }
    }

    /// Handles the request of an operation, and returns the page to show. No form opens a session. The page after an undo offers a reset
    /// link, because the user can't sign in before setting a new password.
    private func page(of operation: AccountPageOperation, _ request: Request, _ context: Context) async throws -> AccountPage {
        switch operation {
        case .openVerifyPage: try await open(.verifyEmail, request)
        case .sendVerifyForm:
            try await sendCurrentPassword(.verifyEmail, .verified, request, context) { token, password in
                try await links.verify(token, by: .password(password))
            }
        case .sendVerifyPasswordForm:
            try await sendNewPassword(.verifyEmail, .verifiedWithNewPassword, request, context) { token, password in
                try await links.verify(token, by: .newPassword(password))
            }
        case .openActivatePage: try await open(.activate, request)
        case .sendActivateForm:
            try await sendNewPassword(.activate, .activated, request, context) { token, password in
                _ = try await registration.create(by: token, password: password)
            }
        case .openConfirmPage: try await open(.confirmEmail, request)
        case .sendConfirmForm:
            try await sendCurrentPassword(.confirmEmail, .emailConfirmed, request, context) { token, password in
                try await links.confirmEmail(token, by: .password(password))
            }
        case .openUndoPage: try await open(.undoEmail, request)
        case .sendUndoForm:
            try await sendLink(.undoEmail, request, context) { token, found in
                try await links.undoEmail(token)
                return .emailRestored(found.recipient)
            }
        case .openKeepPage: try await open(.keepAccount, request)
        case .sendKeepForm:
            try await sendLink(.keepAccount, request, context) { token, _ in
                try await links.keepAccount(token)
                return .accountKept
            }
        }
    }

    /// Returns the page that a link opens: the form for a valid token, or the notice that the link has expired. Changes nothing.
    private func open(_ change: AccountPage.Change, _ request: Request) async throws -> AccountPage {
        let query = PageQuery(request)
        guard query.namesLink else { return .undecided(change) }
        guard let link = query.link(change.purpose) else { return .invalidLink(change) }
        return try await shown(change, link.token) { found in
            guard link.email == nil || link.email == found.recipient else { return .deadLink(change) }
            return .form(change, token: link.token, address: found.recipient, problem: nil)
        }
    }
}

extension AccountPageRoutes {
    /// Makes a change that needs the current password. If the password is wrong, the page shows the form again, and the token stays valid.
    private func sendCurrentPassword(
        _ change: AccountPage.Change,
        _ outcome: AccountPage.Outcome,
        _ request: Request,
        _ context: Context,
        _ make: (ResetToken, Password) async throws -> Void
    ) async throws -> AccountPage {
        let form = try await environment.reader.read(ConfirmLinkForm.self, from: request)
        return try await use(form.token, for: change, request, context) { token, found in
            let again = { (text: LocalizedText) -> AccountPage in
                .form(change, token: token, address: found.recipient, problem: .init(text, isOfNewPassword: false))
            }
            guard let password = try? Password(form.currentPassword) else { return again(ContractText.fieldsEmpty) }
            do {
                try await make(token, password)
                return .done(outcome)
            } catch let error as AccountError where error.code == .authInvalidCredentials {
                return again(error.message ?? ErrorCatalogue.standard[error.code]?.message ?? ContractText.unknownError)
            }
        }
    }

    /// Makes a change that sets a password. If the input is invalid, the page shows the form again, and the token stays valid.
    ///
    /// The method validates the link before the password. So if the link has expired, the page reports the expiry, even if the password is
    /// also weak.
    private func sendNewPassword(
        _ change: AccountPage.Change,
        _ outcome: AccountPage.Outcome,
        _ request: Request,
        _ context: Context,
        _ make: (ResetToken, Password) async throws -> Void
    ) async throws -> AccountPage {
        let form = try await environment.reader.read(NewPasswordForm.self, from: request)
        return try await use(form.token, for: change, request, context) { token, found in
            let again = { (text: LocalizedText) -> AccountPage in
                .form(change, token: token, address: found.recipient, problem: .init(text, isOfNewPassword: true))
            }
            switch RepeatedPassword(form.newPassword, form.confirmPassword) {
            case .problem(let text): return again(text)
            case .password(let password):
                do {
                    try await make(token, password)
                    return .done(outcome)
                } catch let error as AccountError where error.code == .authWeakPassword {
                    return again(error.weaknesses.first?.message ?? ContractText.weakPasswordTitle)
                }
            }
        }
    }

    /// Makes a change that needs only the link. If the user submits the form a second time, the result is the page for a used link.
    private func sendLink(
        _ change: AccountPage.Change,
        _ request: Request,
        _ context: Context,
        _ make: (ResetToken, StoredLink) async throws -> AccountPage.Outcome
    ) async throws -> AccountPage {
        let form = try await environment.reader.read(LinkForm.self, from: request)
        return try await use(form.token, for: change, request, context) { .done(try await make($0, $1)) }
    }

    /// Finds and uses the link of a token like ``shown(_:_:_:)``. If the server is too busy, the limit of the link is refunded.
    /// - Parameter text: The token of the form. If it is malformed, the result is the page for an invalid link.
    private func use(
        _ text: String,
        for change: AccountPage.Change,
        _ request: Request,
        _ context: Context,
        _ body: (ResetToken, StoredLink) async throws -> AccountPage
    ) async throws -> AccountPage {
        let read = try? ResetToken(text)
        let admission = try await environment.limits.admitLink(read, request, in: context)
        guard let token = read else { return .invalidLink(change) }
        return try await admission.usingLink { try await shown(change, token) { try await body(token, $0) } }
    }

    /// Finds the link of a token, and returns the page that a closure creates for the link. If the token is invalid, returns the page for
    /// an expired or used link.
    private func shown(
        _ change: AccountPage.Change,
        _ token: ResetToken,
        _ body: (StoredLink) async throws -> AccountPage
    ) async throws -> AccountPage {
        do {
            let link =
                if change == .activate {
                    try await registration.find(token)
                } else {
                    try await links.find(token, for: change.purpose).link
                }
            return try await body(link)
        } catch let error as AccountError where error.code == .authResetTokenInvalid {
            return .deadLink(change)
        }
    }
}
