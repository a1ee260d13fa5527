#if canImport(UIKit) && !os(watchOS)
    import Holdfast
    import Observation
    import SwiftUI
    import UIKit

    /// Shows the screens of the app in a navigation controller, with the view controllers of `AccountUI`.
    ///
    /// The screens follow their models by themselves. The coordinator follows the app's model: it replaces the root and presents sheets.
    @MainActor
    final class Coordinator {
        let navigation = UINavigationController(rootViewController: UIViewController(nibName: nil, bundle: nil))
        private let app: AppModel
        private var root: ObjectIdentifier?
        /// The sheet that is on the screen, until it has disappeared.
        private var presented: SheetController?

        init(app: AppModel) { self.app = app }

        /// Reads the stored session, and shows the screens from then on.
        func start() {
            follow()
            Task { await app.launch() }
        }

        /// Shows the state of the model now and after each change.
        private func follow() {
            withObservationTracking {
                _ = app.sheetNumber
                if case .signIn(let model) = app.root { _ = model.state }
            } onChange: { [weak self] in
                // The value changes after this call.
                Task { @MainActor in self?.follow() }
            }
            app.signInChanged()
            showRoot()
            showSheet()
        }

        private func showRoot() {
            let id: ObjectIdentifier? =
                switch app.root {
                case .launching: nil
                case .signIn(let model): ObjectIdentifier(model)
                case .notes(let model): ObjectIdentifier(model)
                }
            guard id != root else { return }
            root = id
            switch app.root {
            case .launching: break
            case .signIn(let model):
                // snippet: screen-uikit
                navigation.viewControllers = [
                    SignInViewController(
                        model: model,
                        forgotPassword: { [app] in app.showForgotPassword() },
                        register: { [app] in app.showRegistration() },
                        perform: { [app] in app.perform($0) }
                    )
                ]
            // snippet end
            case .notes(let model):
                let screen = NotesScreen(
                    model: model,
                    show: { [app] in app.show($0) },
                    signOut: { [app] in Task { await app.signOut() } },
                    perform: { [app] in app.perform($0) }
                )
                navigation.viewControllers = [UIHostingController(rootView: screen)]
            }
        }

        /// Presents the sheet of the model, or first dismisses another sheet. UIKit presents no sheet while another one is being dismissed,
        /// so ``sheetDisappeared(_:)`` calls this method again.
        private func showSheet() {
            if let presented {
                guard app.sheetNumber != presented.number, !presented.isClosing else { return }
                presented.isClosing = true
                navigation.dismiss(animated: true) { [weak self] in
                    // If an alert covered the sheet, only this closure reports the end.
                    guard let self, navigation.presentedViewController !== presented else { return }
                    sheetDisappeared(presented)
                }
            } else if let sheet = app.sheet, let number = app.sheetNumber {
                let controller = SheetController(rootViewController: self.controller(for: sheet))
                controller.number = number
                controller.didDisappear = { [weak self] in self?.sheetDisappeared($0) }
                presented = controller
                navigation.present(controller, animated: true)
            }
        }

        /// Removes a sheet from the model if the user has swiped it away. Presents the next sheet, if the model has opened another one or
        /// has closed this one and opened it again.
        private func sheetDisappeared(_ controller: SheetController) {
            guard presented === controller else { return }
            presented = nil
            if app.sheetNumber == controller.number { app.sheet = nil }
            // UIKit ends the dismissal after this call.
            Task { showSheet() }
        }

        private func controller(for sheet: AppModel.Sheet) -> UIViewController {
            switch sheet {
            case .forgotPassword(let model):
                ForgotPasswordViewController(model: model, perform: { [app] in app.perform($0) })
            case .resetPassword(let model):
                ResetPasswordViewController(
                    model: model,
                    signIn: { [app] in Task { await app.signIn(after: model) } },
                    perform: { [app] in app.perform($0) }
                )
            case .form(let model):
                AccountFormViewController(
                    model: model,
                    forgotPassword: { [app] in app.sheet = .forgotPassword(model.makeForgotPasswordModel()) },
                    perform: { [app] in app.perform($0) }
                )
            case .devices(let model): SessionsViewController(model: model, perform: { [app] in app.perform($0) })
            case .errorLab(let model):
                UIHostingController(rootView: ErrorLabView(model: model, perform: { [app] in app.perform($0) }))
            }
        }
    }

    /// A sheet that reports when it has disappeared, also if the user has swiped it away.
    private final class SheetController: UINavigationController {
        /// The number of the sheet in the model.
        var number = 0
        /// Whether the coordinator has dismissed the sheet.
        var isClosing = false
        var didDisappear: @MainActor (SheetController) -> Void = { _ in }

        override func viewDidDisappear(_ animated: Bool) {
            super.viewDidDisappear(animated)
            if isBeingDismissed { didDisappear(self) }
        }
    }
#endif
