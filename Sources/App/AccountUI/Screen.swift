#if canImport(SwiftUI)
    import Accessibility
    public import AccountKit
    public import ErrorContract
    import Foundation
    public import SwiftUI

    extension View {
        /// Connects the root view of a screen to its model.
        ///
        /// The modifier runs the actions that the model's `work` starts. An action continues even if the row or the alert of its button
        /// disappears. The modifier presents the model's alerts one after the other. After an alert is closed, the modifier moves the focus
        /// to the invalid field. It also posts the announcements to VoiceOver, and sets the locale, the layout direction and the form style
        /// of the whole screen. Apply the modifier once, outside of lists and forms:
        ///
        /// ```swift
        /// List(model.orders) { OrderRow(order: $0) }
        ///     .screen(model) { action in open(action) }
        /// ```
        ///
        /// Built-in screens apply this modifier themselves. For a view without a `ScreenModel`, use
        /// `errorAlert(_:isPresented:in:catalogue:checkAgain:perform:)`, which shows alerts only.
        /// - Parameters:
        ///   - model: The model of the screen.
        ///   - focus: Moves the focus to a field.
        ///   - perform: Performs an action of an alert if the model leaves the action to the app, such as contacting support.
        public func screen(
            _ model: some ScreenModel,
            focus: @escaping @MainActor (AccountField) -> Void = { _ in },
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) -> some View {
            // If the view gets another model, SwiftUI must create a new screen, without the alerts and tasks of the earlier model.
            modifier(Screen(model: model, focus: focus, perform: perform)).id(ObjectIdentifier(model))
        }

        /// Connects the root view of a screen to its model, as `screen(_:focus:perform:)` does, and presents the model's questions. An
        /// alert that follows a question is presented after the question has closed.
        /// - Parameters:
        ///   - model: The model of the screen.
        ///   - question: The question of the model; `nil` for none.
        ///   - perform: Performs an action of an alert if the model leaves the action to the app.
        package func screen(
            _ model: some ScreenModel,
            question: ScreenQuestion?,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void
        ) -> some View {
            modifier(Screen(model: model, question: question, focus: { _ in }, perform: perform)).id(ObjectIdentifier(model))
        }
    }

    /// The modifier behind `screen(_:focus:perform:)`.
    private struct Screen<Model: ScreenModel>: ViewModifier {
        /// The model of the screen.
        let model: Model
        /// The question of the model; `nil` for none.
        var question: ScreenQuestion?
        /// Moves the focus to a field.
        let focus: @MainActor (AccountField) -> Void
        /// Performs an action that the model leaves to the app.
        let perform: @MainActor (ErrorPresentation.Action) -> Void

        func body(content: Content) -> some View {
            content
                .formStyle(.grouped)
                .task(id: model.work.request) { await model.work.run() }
                .modifier(
                    AlertPresenter(
                        alert: model.currentAlert,
                        question: question,
                        language: model.language,
                        catalogue: model.catalogue,
                        dismiss: { model.dismissAlert($0) },
                        choose: { model.start($0, perform: perform) },
                        didClose: { moveFocus() }
                    )
                )
                // A task runs after the view was updated, so the fields are enabled again.
                .task(id: model.focusRequest) { moveFocus() }
                .onChange(of: model.announcement) { _, announcement in
                    if let announcement { AccessibilityNotification.Announcement(announcement.text).post() }
                }
                .environment(\.locale, Locale(identifier: model.language.rawValue))
                .environment(\.layoutDirection, model.language.isRightToLeft ? .rightToLeft : .leftToRight)
        }

        /// Moves the focus to the requested field, once per request. While an alert is shown, the alert has the focus, so the method does
        /// nothing. The view calls the method again after the alert was closed.
        private func moveFocus() {
            guard model.currentAlert == nil, let request = model.focusRequest, request.id != model.work.lastFocus else { return }
            model.work.lastFocus = request.id
            focus(request.field)
        }
    }
#endif
