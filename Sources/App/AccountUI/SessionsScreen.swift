#if canImport(SwiftUI)
    import AccountContract
    public import AccountKit
    public import ErrorContract
    public import SwiftUI

    /// The list of the user's sessions, with buttons that end the sessions of other devices.
    ///
    /// ```swift
    /// NavigationStack { SessionsScreen(model: SessionsModel(client: accounts, language: .preferred())) }
    /// ```
    ///
    /// The screen loads the list when it appears. Use ``SessionsViewController`` in a UIKit app.
    public struct SessionsScreen: View {
        @Bindable private var model: SessionsModel
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: The model of the screen.
        ///   - perform: Performs an action of an alert if the model leaves the action to the app, such as signing in, contacting support,
        ///     or checking whether a request took effect.
        public init(
            model: SessionsModel,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            self.model = model
            self.perform = perform
        }

        /// The rows, or a button that loads them.
        public var body: some View {
            Form {
                if let sessions = model.sessions {
                    Section {
                        ForEach(sessions) { session in
                            SessionRow(
                                name: model.name(of: session),
                                detail: model.detail(of: session),
                                endTitle: session.isCurrent ? nil : model.endTitle,
                                isEnabled: model.isEnabled
                            ) {
                                model.work.start { await model.end(session) }
                            }
                        }
                    }
                    if model.hasOthers {
                        Section {
                            Button(model.endOthersTitle, role: .destructive) {
                                model.work.start { await model.endOthers() }
                            }
                            .disabled(!model.isEnabled)
                        }
                    }
                } else {
                    PrimaryButton(title: model.loadTitle, isEnabled: model.isEnabled, isBusy: !model.isEnabled) {
                        model.work.start { await model.load() }
                    }
                }
            }
            .navigationTitle(model.title)
            .task { await model.load() }
            .screen(model, perform: perform)
        }
    }

    /// A session with the button that ends it. VoiceOver reads the name of the device with the button, because all rows have the same
    /// button.
    private struct SessionRow: View {
        /// The name of the device.
        let name: String
        /// The line under the name.
        let detail: String
        /// The label of the button; `nil` for the session of this device.
        let endTitle: String?
        let isEnabled: Bool
        /// Called on a tap. The closure must return immediately.
        let end: @MainActor () -> Void

        var body: some View {
            VStack(alignment: .leading) {
                Text(name).font(.headline)
                Text(detail).font(.footnote).foregroundStyle(.secondary)
                if let endTitle {
                    // With the automatic style, a tap anywhere in the row would press the button.
                    Button(endTitle) { end() }
                        .buttonStyle(.borderless)
                        .disabled(!isEnabled)
                        .accessibilityLabel(endTitle + ", " + name)
                }
            }
        }
    }
#endif
