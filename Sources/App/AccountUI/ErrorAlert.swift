#if canImport(SwiftUI)
    import AccountKit
    public import ErrorContract
    public import SwiftUI

    #if os(macOS)
        import AppKit
    #elseif os(iOS) || os(visionOS)
        import UIKit
    #endif

    extension View {
        /// Shows an error as an alert with one or two buttons. Use the modifier for views without a `ScreenModel`. For a view with a model,
        /// `screen(_:focus:perform:)` shows the alerts.
        ///
        /// ```swift
        /// .errorAlert(model.alert, isPresented: $model.isAlertShown, in: model.language, checkAgain: { await orders.reload() }) {
        ///     await model.perform($0)
        /// }
        /// ```
        ///
        /// Apply the modifier to the root of the screen. The chosen action runs in a task of this view, and SwiftUI cancels the task when
        /// the view disappears. If the error has a reference for support, an additional button copies the reference to the pasteboard
        /// (not on tvOS and watchOS).
        /// - Parameters:
        ///   - presentation: The error; `nil` shows nothing.
        ///   - isPresented: Whether the alert is shown. Each button sets it to `false` before `perform` runs. To show the same error again,
        ///     set it to `false` and then to `true`.
        ///   - language: The language of the buttons.
        ///   - catalogue: The catalogue with the app's own translations.
        ///   - checkAgain: Called instead of `perform` for the action `checkAgain`, which the alert offers if the response to a request was
        ///     lost. The closure checks whether the server performed the request. It must not send the request again. If the closure is
        ///     `nil`, `perform` receives `ErrorPresentation.Action.checkAgain`.
        ///   - perform: Performs the action that the user chose.
        public func errorAlert(
            _ presentation: ErrorPresentation?,
            isPresented: Binding<Bool>,
            in language: Language,
            catalogue: ErrorCatalogue = .standard,
            checkAgain: (@MainActor () async -> Void)? = nil,
            perform: @escaping @MainActor (ErrorPresentation.Action) async -> Void
        ) -> some View {
            modifier(
                ErrorAlert(
                    presentation: presentation,
                    isPresented: isPresented,
                    language: language,
                    catalogue: catalogue,
                    checkAgain: checkAgain,
                    perform: perform
                )
            )
        }
    }

    /// An alert that is bound to a flag, for views without a model.
    ///
    /// Each change of the flag to `true` is a new alert with a new id. ``AlertPresenter`` can therefore distinguish the alert from an
    /// earlier one with the same text.
    struct ErrorAlert: ViewModifier {
        /// The error to show.
        let presentation: ErrorPresentation?
        /// Whether the alert is shown.
        @Binding var isPresented: Bool
        /// The language of the buttons.
        let language: Language
        /// The catalogue with the app's own translations.
        let catalogue: ErrorCatalogue
        /// Called instead of `perform` for the action `checkAgain`; `nil` if `perform` handles it.
        let checkAgain: (@MainActor () async -> Void)?
        /// Performs the action that the user chose.
        let perform: @MainActor (ErrorPresentation.Action) async -> Void
        /// The number of alerts so far, which is the id of the current one.
        @State private var count = 0
        /// Runs the chosen action in the view's task.
        @State private var work = ScreenWork()

        /// Adds the alert and the task of its actions to the content.
        func body(content: Content) -> some View {
            content
                .task(id: work.request) { await work.run() }
                .modifier(
                    AlertPresenter(
                        alert: isPresented && count > 0 ? presentation.map { ScreenAlert(id: count, presentation: $0) } : nil,
                        language: language,
                        catalogue: catalogue,
                        dismiss: { if $0 == count { isPresented = false } },
                        choose: { choose($0) },
                        didClose: {}
                    )
                )
                .onChange(of: isPresented, initial: true) { _, isPresented in
                    if isPresented { count += 1 }
                }
        }

        /// Starts the chosen action.
        private func choose(_ action: ErrorPresentation.Action) {
            work.start {
                if action == .checkAgain, let checkAgain {
                    await checkAgain()
                } else {
                    await perform(action)
                }
            }
        }
    }

    /// Presents the alerts and questions of a screen, one after the other.
    ///
    /// SwiftUI doesn't show an alert that is set while another alert closes. The view is therefore bound to an `AlertQueue` and not to the
    /// model. The queue presents a new alert only after the view was updated without the earlier alert. A question is presented from the
    /// same queue, because an alert can follow a question.
    ///
    /// If the model sets several alerts while an alert is shown, the view shows only the latest of them next. A dismissal contains the id
    /// of its alert or question, so that a late dismissal closes no later one.
    struct AlertPresenter: ViewModifier {
        /// The alert of the model; `nil` for none.
        let alert: ScreenAlert?
        /// The question of the model; `nil` for none. While the model asks a question, ``alert`` is not shown.
        var question: ScreenQuestion?
        /// The language of the buttons.
        let language: Language
        /// The catalogue with the app's own translations.
        let catalogue: ErrorCatalogue
        /// Removes an alert from the model.
        let dismiss: @MainActor (ScreenAlert.ID) -> Void
        /// Starts the action that the user chose in an alert.
        let choose: @MainActor (ErrorPresentation.Action) -> Void
        /// Called after an alert or a question was closed, if no other one follows.
        let didClose: @MainActor () -> Void
        /// The alert or question that is shown, and the one that follows.
        @State private var queue = AlertQueue()

        /// Adds the alert to the content.
        func body(content: Content) -> some View {
            content
                .alert(Text(queue.content?.title ?? ""), isPresented: isPresented, presenting: queue.content) { shown in
                    switch shown {
                    case .alert(let alert): buttons(of: alert)
                    case .question(let question): buttons(of: question)
                    }
                } message: { shown in
                    Text(shown.message(in: language, catalogue: catalogue))
                }
                .onChange(of: dialog, initial: true) { _, dialog in queue.follow(dialog) }
                .onChange(of: queue.isPresented) { _, isPresented in
                    guard !isPresented else { return }
                    queue.didClose()
                    if !queue.isPresented { didClose() }
                }
        }

        /// The question or the alert of the model; `nil` for none.
        private var dialog: ScreenDialog? {
            if let question { return .question(question) }
            return alert.map { .alert($0) }
        }

        /// Returns a button for each action of the presentation, and a button that copies the reference for support.
        @ViewBuilder private func buttons(of shown: ScreenAlert) -> some View {
            Button(shown.presentation.primaryLabel(in: language, catalogue: catalogue)) {
                choose(shown.presentation.primary, in: shown)
            }
            if let secondary = shown.presentation.secondary,
                let label = shown.presentation.secondaryLabel(in: language, catalogue: catalogue)
            {
                Button(label, role: secondary == .dismiss ? .cancel : nil) { choose(secondary, in: shown) }
            }
            #if os(iOS) || os(macOS) || os(visionOS)
                if let reference = shown.presentation.supportReference {
                    Button(catalogue.text(ScreenText.copyReference, in: language)) { copy(reference.description) }
                }
            #endif
        }

        /// Returns the button that performs the action of a question, and the button that does nothing.
        @ViewBuilder private func buttons(of shown: ScreenQuestion) -> some View {
            Button(shown.confirmLabel, role: .destructive) {
                close(.question(shown))
                shown.confirm()
            }
            Button(shown.cancelLabel, role: .cancel) { close(.question(shown)) }
        }

        /// Whether an alert or a question is presented, as a binding. Its setter closes only the one for which the binding was created,
        /// because a dismissal can arrive after the next one was set.
        private var isPresented: Binding<Bool> {
            let shown = queue.content
            return Binding(get: { queue.isPresented }, set: { if !$0, let shown { close(shown) } })
        }

        /// Closes an alert and starts its action.
        private func choose(_ action: ErrorPresentation.Action, in shown: ScreenAlert) {
            close(.alert(shown))
            choose(action)
        }

        /// Closes an alert or a question in the queue and in the model.
        private func close(_ shown: ScreenDialog) {
            queue.dismiss(shown.id)
            switch shown {
            case .alert(let alert): dismiss(alert.id)
            case .question(let question): question.dismiss()
            }
        }
    }

    #if os(macOS)
        /// Copies a text to the pasteboard.
        @MainActor private func copy(_ text: String) {
            _ = NSPasteboard.general.clearContents()
            _ = NSPasteboard.general.setString(text, forType: .string)
        }
    #elseif os(iOS) || os(visionOS)
        /// Copies a text to the pasteboard.
        @MainActor private func copy(_ text: String) { UIPasteboard.general.string = text }
    #endif
#endif
