#if canImport(SwiftUI)
    public import ErrorContract
    public import SwiftUI

    extension View {
        /// Shows an error as an alert, with one button or two.
        ///
        /// ```swift
        /// .errorAlert(model.alert, isPresented: $model.isAlertShown, in: model.language, checkAgain: { await orders.reload() }) {
        ///     await model.perform($0)
        /// }
        /// ```
        /// - Parameters:
        ///   - presentation: What is shown, if anything.
        ///   - isPresented: Whether it is shown; set to `false` by every button.
        ///   - language: The language of the buttons.
        ///   - catalogue: What has the app's own words.
        ///   - checkAgain: Finds out whether a request took effect whose response was lost, instead of `perform`; `nil` leaves
        ///     ``ErrorContract/ErrorPresentation/Action/checkAgain`` to `perform`. It must not send the request again.
        ///   - perform: Does what the user chose. Both are canceled when the view goes.
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

    struct ErrorAlert: ViewModifier {
        let presentation: ErrorPresentation?
        @Binding var isPresented: Bool
        let language: Language
        let catalogue: ErrorCatalogue
        let checkAgain: (@MainActor () async -> Void)?
        let perform: @MainActor (ErrorPresentation.Action) async -> Void
        @State private var chosen: ErrorPresentation.Action?

        func body(content: Content) -> some View {
            content
                .alert(presentation?.title ?? "", isPresented: $isPresented, presenting: presentation) { shown in
                    Button(shown.primaryLabel(in: language, catalogue: catalogue)) { chosen = shown.primary }
                    if let secondary = shown.secondary, let label = shown.secondaryLabel(in: language, catalogue: catalogue) {
                        Button(label, role: secondary == .dismiss ? .cancel : nil) { chosen = secondary }
                    }
                } message: { shown in
                    Text(shown.message)
                }
                .task(id: chosen) {
                    guard let action = chosen else { return }
                    if action == .checkAgain, let checkAgain {
                        await checkAgain()
                    } else {
                        await perform(action)
                    }
                    chosen = nil
                }
        }
    }
#endif
