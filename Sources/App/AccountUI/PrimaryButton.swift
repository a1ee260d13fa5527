#if canImport(SwiftUI)
    import SwiftUI

    /// The main button of a screen, over the whole width of its row. Its title shows the progress; its position and height stay
    /// the same.
    ///
    /// It only starts an action. The screen runs the action, so that it continues when the row scrolls away.
    struct PrimaryButton: View {
        let title: String
        var isEnabled = true
        var isBusy = false
        let start: @MainActor () -> Void

        var body: some View {
            Button {
                start()
            } label: {
                HStack {
                    if isBusy { ProgressView().accessibilityHidden(true) }
                    Text(title).monospacedDigit().multilineTextAlignment(.center)
                }
                .frame(maxWidth: .infinity)
            }
            .buttonStyle(.borderedProminent)
            .largeControl()
            .disabled(!isEnabled)
            .accessibilityAddTraits(.updatesFrequently)
        }
    }

    extension View {
        #if os(tvOS)
            fileprivate func largeControl() -> some View { self }
        #else
            fileprivate func largeControl() -> some View { controlSize(.large) }
        #endif
    }
#endif
