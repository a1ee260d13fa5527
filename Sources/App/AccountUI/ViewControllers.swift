#if canImport(SwiftUI) && (os(iOS) || os(tvOS) || os(visionOS))
    public import AccountKit
    public import ErrorContract
    public import Foundation
    public import SwiftUI
    import UIKit

    /// A view controller with the sign-in screen, for UIKit apps. The controller sets its title for the navigation bar.
    ///
    /// ```swift
    /// let controller = SignInViewController(model: model, forgotPassword: { [weak self] in self?.showForgotPassword() })
    /// navigationController?.pushViewController(controller, animated: true)
    /// ```
    ///
    /// The controller retains its closures. Capture the owner of the controller weakly. The controller is not available on macOS and
    /// watchOS.
    public final class SignInViewController: UIHostingController<SignInScreen> {
        /// Creates the controller. The parameters are the same as for ``SignInScreen``.
        /// - Parameters:
        ///   - model: The model of the screen. The title of the controller is in the model's language.
        ///   - forgotPassword: Opens the screen on which the user requests a reset link.
        ///   - register: Opens the registration screen; `nil` if users can't register in the app.
        ///   - perform: Performs an action of an alert if the model leaves the action to the app.
        public init(
            model: SignInModel,
            forgotPassword: @escaping @MainActor () -> Void,
            register: (@MainActor () -> Void)? = nil,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            super.init(
                rootView: SignInScreen(model: model, forgotPassword: forgotPassword, register: register, perform: perform)
            )
            title = model.catalogue.text(ContractText.signIn, in: model.language)
        }

        @available(*, unavailable, message: "A screen needs its model: it can't be created by a storyboard")
        public required init?(coder: NSCoder) { nil }
    }

    /// A view controller with the screen on which a user requests a reset link, for UIKit apps. Retain the model after the controller is
    /// popped, so that the cooldown continues.
    ///
    /// The controller retains its closure. Capture the owner of the controller weakly.
    public final class ForgotPasswordViewController: UIHostingController<ForgotPasswordScreen> {
        /// Creates the controller. The parameters are the same as for ``ForgotPasswordScreen``.
        /// - Parameters:
        ///   - model: The model of the screen. The title of the controller is in the model's language.
        ///   - perform: Performs an action of an alert if the model leaves the action to the app.
        public init(
            model: ForgotPasswordModel,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            super.init(rootView: ForgotPasswordScreen(model: model, perform: perform))
            title = model.catalogue.text(ContractText.forgotPassword, in: model.language)
        }

        @available(*, unavailable, message: "A screen needs its model: it can't be created by a storyboard")
        public required init?(coder: NSCoder) { nil }
    }

    /// A view controller with the screen that a reset link opens, for UIKit apps. The controller retains its closures.
    ///
    /// Present the controller in a navigation controller when the app opens a reset link:
    ///
    /// ```swift
    /// let controller = ResetPasswordViewController(model: model, signIn: { [weak self] in self?.showSignIn() }) { [weak self] action in
    ///     if action == .dismiss { self?.dismiss(animated: true) }
    /// }
    /// present(UINavigationController(rootViewController: controller), animated: true)
    /// ```
    public final class ResetPasswordViewController: UIHostingController<ResetPasswordScreen> {
        /// Creates the controller. The parameters are the same as for ``ResetPasswordScreen``.
        /// - Parameters:
        ///   - model: The model of the screen. The title of the controller is in the model's language.
        ///   - signIn: Opens the sign-in screen with the model's `makeSignInModel()`.
        ///   - perform: Performs an action that the model leaves to the app.
        public init(
            model: ResetPasswordModel,
            signIn: @escaping @MainActor () -> Void,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void
        ) {
            super.init(rootView: ResetPasswordScreen(model: model, signIn: signIn, perform: perform))
            title = model.catalogue.text(ContractText.resetTitle, in: model.language)
        }

        @available(*, unavailable, message: "A screen needs its model: it can't be created by a storyboard")
        public required init?(coder: NSCoder) { nil }
    }

    /// A view controller with a form of the account, for UIKit apps: registration, changes of the account, or an emailed link. The
    /// controller retains its closures.
    public final class AccountFormViewController: UIHostingController<AccountFormScreen> {
        /// Creates the controller. The parameters are the same as for ``AccountFormScreen``.
        /// - Parameters:
        ///   - model: The model of the form. The controller has the model's title.
        ///   - forgotPassword: Opens the screen on which the user requests a reset link; `nil` for a form without this button.
        ///   - perform: Performs an action that the model leaves to the app.
        public init(
            model: FormModel,
            forgotPassword: (@MainActor () -> Void)? = nil,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void
        ) {
            super.init(rootView: AccountFormScreen(model: model, forgotPassword: forgotPassword, perform: perform))
            title = model.title
        }

        @available(*, unavailable, message: "A screen needs its model: it can't be created by a storyboard")
        public required init?(coder: NSCoder) { nil }
    }

    /// A view controller with the list of the user's sessions, for UIKit apps. The controller retains its closure.
    public final class SessionsViewController: UIHostingController<SessionsScreen> {
        /// Creates the controller. The parameters are the same as for ``SessionsScreen``.
        /// - Parameters:
        ///   - model: The model of the screen. The controller has the model's title.
        ///   - perform: Performs an action of an alert if the model leaves the action to the app.
        public init(
            model: SessionsModel,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            super.init(rootView: SessionsScreen(model: model, perform: perform))
            title = model.title
        }

        @available(*, unavailable, message: "A screen needs its model: it can't be created by a storyboard")
        public required init?(coder: NSCoder) { nil }
    }
#endif
