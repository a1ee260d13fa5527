import AccountKit
import AccountUI
import SwiftUI

/// The example of "Getting started with AccountUI".
// snippet: start-account-ui
struct SignInSheet: View {
    let model: SignInModel
    let requestLink: @MainActor () -> Void

    var body: some View {
        NavigationStack {
            SignInScreen(model: model) { requestLink() }
        }
    }
}
// snippet end
