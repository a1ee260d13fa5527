#if canImport(SwiftUI)
    import SwiftUI

    /// The main button of a screen, over the whole width of its row. The title shows the progress. The position and the height of the
    /// button stay the same.
    ///
    /// The button only starts an action, and the screen runs the action. The action therefore continues when the row of the button scrolls
    /// away. Digits have a fixed width, so that the title doesn't move during a countdown.
    struct PrimaryButton: View {
        /// The label, which may change while the action runs.
        let title: String
        /// Whether the button reacts to taps. A disabled button keeps its place.
        var isEnabled = true
        /// Whether a progress indicator is shown before the title.
        var isBusy = false
        /// Called on a tap. The closure must return immediately.
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
            /// Returns the view unchanged: tvOS has no sizes of controls.
            fileprivate func largeControl() -> some View { self }
        #else
            /// Makes the control large.
            fileprivate func largeControl() -> some View { controlSize(.large) }
        #endif
    }
#endif
