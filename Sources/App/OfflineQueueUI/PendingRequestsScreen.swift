#if canImport(SwiftUI)
    import AccountKit
    import AccountUI
    public import ErrorContract
    import OfflineQueue
    public import SwiftUI

    #if os(iOS) || os(tvOS) || os(visionOS)
        public import Foundation
        import UIKit
    #endif

    /// The screen that lists the requests of an offline queue, with buttons to cancel, retry and remove them. The screen shows waiting,
    /// sending and failed requests.
    ///
    /// ```swift
    /// NavigationStack {
    ///     PendingRequestsScreen(model: model) { action in if action == .signIn { showSignIn() } }
    /// }
    /// ```
    ///
    /// While the screen is visible, it runs the model, so the list shows each change of the queue. Show the screen in a navigation stack,
    /// which displays its title. In a UIKit app, use ``PendingRequestsViewController``.
    public struct PendingRequestsScreen: View {
        private let model: PendingRequestsModel
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: The model of the screen.
        ///   - perform: Performs an action that the model leaves to the app, such as signing in.
        public init(model: PendingRequestsModel, perform: @escaping @MainActor (ErrorPresentation.Action) -> Void) {
            self.model = model
            self.perform = perform
        }

        /// The notices, the failed requests and the waiting requests. While the screen is visible, it shows each change of the queue.
        public var body: some View {
            List {
                ForEach(model.notices) { notice in
                    Section {
                        Text(notice.text)
                        if let label = notice.actionLabel {
                            Button(label) { start { await model.perform(notice) } }
                        }
                    }
                }
                if !model.failed.isEmpty {
                    Section(model.failedTitle) { rows(model.failed) }
                }
                if !model.waiting.isEmpty {
                    Section(model.waitingTitle) { rows(model.waiting) }
                    Button(model.sendNowLabel) { model.work.start { await model.sendNow() } }
                }
                if let text = model.hiddenText { Text(text).foregroundStyle(.secondary) }
                if let text = model.emptyText { Text(text).foregroundStyle(.secondary) }
            }
            .navigationTitle(model.screenTitle)
            .task { await model.run() }
            .screen(model, question: question, perform: perform)
        }

        /// The question of the model; `nil` for none. The question closes and is removed from the model before its action runs.
        private var question: ScreenQuestion? {
            guard let confirmation = model.confirmation else { return nil }
            let number = model.confirmationNumber
            return ScreenQuestion(
                id: number,
                title: model.screenTitle,
                message: confirmation.message,
                confirmLabel: confirmation.confirmLabel,
                cancelLabel: confirmation.cancelLabel,
                confirm: { [model] in model.work.start { await model.confirm(confirmation) } },
                dismiss: { [model] in model.dismissConfirmation(number) }
            )
        }

        /// Returns the rows of one of the two lists.
        private func rows(_ requests: [PendingRequest]) -> some View {
            ForEach(requests) { request in
                PendingRequestRow(request: request, label: { model.label(of: $0) }) { action in
                    start { await model.perform(action, on: request.id) }
                }
            }
        }

        /// Starts an action with the model's `work`, so that the action continues if its row disappears.
        private func start(_ action: @escaping @MainActor () async -> ErrorPresentation.Action?) {
            model.work.start {
                if let remaining = await action() { perform(remaining) }
            }
        }
    }

    /// A request with its buttons. VoiceOver reads the texts as one element, and reads the title of the request with each button.
    private struct PendingRequestRow: View {
        /// The row to show.
        let request: PendingRequest
        /// Returns the label of an action.
        let label: @MainActor (PendingRequest.Action) -> String
        /// Called when the user taps a button.
        let perform: @MainActor (PendingRequest.Action) -> Void

        var body: some View {
            VStack(alignment: .leading) {
                VStack(alignment: .leading) {
                    Text(request.title).font(.headline)
                    Text(request.status)
                    Text(request.createdText).font(.footnote).foregroundStyle(.secondary)
                    if let reference = request.supportText { Text(reference).font(.footnote).foregroundStyle(.secondary) }
                }
                .accessibilityElement(children: .combine)
                HStack {
                    ForEach(request.actions, id: \.self) { action in
                        Button(label(action)) { perform(action) }
                            .buttonStyle(.borderless)
                            .accessibilityLabel(spokenLabel(of: action))
                    }
                }
            }
        }

        /// Returns the label of a button for VoiceOver. The label contains the title of the request, because all rows have the same
        /// buttons.
        private func spokenLabel(of action: PendingRequest.Action) -> String { label(action) + ", " + request.title }
    }

    #if os(iOS) || os(tvOS) || os(visionOS)
        /// The screen of pending requests in a view controller, for UIKit apps. The controller sets its title for the navigation bar.
        ///
        /// The controller retains its closure. If the closure uses the owner of the controller, capture the owner weakly. The controller is
        /// not available on macOS and watchOS.
        public final class PendingRequestsViewController: UIHostingController<PendingRequestsScreen> {
            /// Creates the controller, with the same parameters as ``PendingRequestsScreen``.
            /// - Parameters:
            ///   - model: The model of the screen. The controller has the model's title.
            ///   - perform: Performs an action that the model leaves to the app, such as signing in.
            public init(model: PendingRequestsModel, perform: @escaping @MainActor (ErrorPresentation.Action) -> Void) {
                super.init(rootView: PendingRequestsScreen(model: model, perform: perform))
                title = model.screenTitle
            }

            @available(*, unavailable, message: "A screen needs its model: it can't be created by a storyboard")
            public required init?(coder: NSCoder) { nil }
        }
    #endif
#endif
