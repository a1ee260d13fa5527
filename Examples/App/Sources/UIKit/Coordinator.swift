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
        private var sheet: ObjectIdentifier?

        init(app: AppModel) { self.app = app }

        /// Reads the stored session, and shows the screens from then on.
        func start() {
            follow()
            Task { await app.launch() }
        }

        /// Shows the state of the model now and after each change.
        private func follow() {
            withObservationTracking {
                _ = app.sheet?.id
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

        private func showSheet() {
            guard app.sheet?.id != sheet else { return }
            let isPresenting = sheet != nil
            sheet = app.sheet?.id
            let next = app.sheet.map { makeSheet($0) }
            // A controller can be presented after the earlier one is dismissed.
            let present = { [navigation] in if let next { navigation.present(next, animated: true) } }
            if isPresenting { navigation.dismiss(animated: true, completion: present) } else { present() }
        }

        private func makeSheet(_ sheet: AppModel.Sheet) -> UIViewController {
            let id = sheet.id
            let controller = SheetController(rootViewController: self.controller(for: sheet))
            controller.didDisappear = { [weak self] in self?.sheetDisappeared(id) }
            return controller
        }

        /// Removes a sheet from the model if the user has swiped it away. Does nothing if the model has removed or replaced the sheet.
        private func sheetDisappeared(_ id: ObjectIdentifier) {
            guard app.sheet?.id == id else { return }
            sheet = nil
            app.sheet = nil
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
        var didDisappear: @MainActor () -> Void = {}

        override func viewDidDisappear(_ animated: Bool) {
            super.viewDidDisappear(animated)
            if isBeingDismissed { didDisappear() }
        }
    }
#endif
