#if canImport(SwiftUI)
    import SwiftUI

    /// A button whose work lives as long as the view: when the screen goes, the work is cancelled.
    struct ActionButton: View {
        let title: String
        var isEnabled = true
        let action: @MainActor () async -> Void
        @State private var isRunning = false

        var body: some View {
            Button(title) { isRunning = true }
                .disabled(!isEnabled)
                .task(id: isRunning) {
                    guard isRunning else { return }
                    await action()
                    isRunning = false
                }
        }
    }
#endif
