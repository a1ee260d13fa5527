import Accessibility
import Foundation
import Observation
import SwiftUI

#if os(macOS)
    import AppKit
#elseif os(watchOS)
    import WatchKit
#else
    import UIKit
#endif

/// The model of a screen that uses most of the stub. `scripts/check-apple` compiles it for every platform.
@MainActor
@Observable
final class SampleModel {
    var email = ""
    var password = ""
    var isShown = false
    var isAlertShown = false
    var alert: String?
    var path: [Int] = []

    func submit() async {}
}

/// The fields of the screen, for the focus.
enum SampleField: Hashable {
    case email
    case password
}

struct SampleScreen: View {
    @Bindable private var model: SampleModel
    @FocusState private var focus: SampleField?
    @AccessibilityFocusState private var isMessageFocused: Bool
    @State private var attempts = 0
    @AppStorage("lastEmail") private var lastEmail = ""
    @ScaledMetric(relativeTo: .body) private var spacing = 8.0
    @Environment(\.dismiss) private var dismiss
    @Environment(\.openURL) private var openURL
    @Environment(\.scenePhase) private var phase
    @Environment(\.dynamicTypeSize) private var size

    init(model: SampleModel) {
        self.model = model
    }

    var body: some View {
        NavigationStack(path: $model.path) {
            Form {
                Section {
                    TextField("Email", text: $model.email, prompt: Text(verbatim: "ana@example.com"))
                        .autocorrectionDisabled()
                        .sampleEmail()
                        .focused($focus, equals: .email)
                        .submitLabel(.next)
                        .onSubmit { focus = .password }
                    ZStack {
                        SecureField("Password", text: $model.password)
                            .opacity(model.isShown ? 0 : 1)
                        TextField("Password", text: $model.password)
                            .opacity(model.isShown ? 1 : 0)
                            .accessibilityHidden(!model.isShown)
                    }
                    .privacySensitive()
                    .focused($focus, equals: .password)
                    .submitLabel(.go)
                    .onSubmit { attempts += 1 }
                    Toggle(isOn: $model.isShown) { Label("Show", systemImage: "eye") }
                } header: {
                    Text("Account").textCase(nil)
                } footer: {
                    Text("Attempt \(attempts) of \(5)").accessibilityFocused($isMessageFocused)
                }
                Section {
                    Button(role: .destructive) {
                        attempts = 0
                    } label: {
                        Text("Reset").frame(maxWidth: .infinity)
                    }
                    .buttonStyle(.borderedProminent)
                    .disabled(model.email.isEmpty)
                    LabeledContent("Waited", value: Duration.seconds(3).formatted())
                    ForEach(["one", "two"], id: \.self) { Text($0) }
                    if attempts > 3 { ProgressView("Signing in") } else if size.isAccessibilitySize { EmptyView() }
                }
            }
            .formStyle(.grouped)
            .navigationTitle(Text("Sign in"))
            .navigationDestination(for: Int.self) { number in Text("\(number)").font(.headline.monospacedDigit()) }
            .toolbar { ToolbarItem(placement: .cancellationAction) { Button("Cancel") { dismiss() } } }
        }
        .environment(\.locale, Locale(identifier: "es"))
        .environment(\.layoutDirection, .leftToRight)
        .environment(model)
        .task(id: attempts) { await model.submit() }
        .onChange(of: model.email) { old, new in if old != new { lastEmail = new } }
        .onChange(of: phase) { AccessibilityNotification.Announcement("Back").post() }
        .onOpenURL { url in openURL(url) }
        .onContinueUserActivity(NSUserActivityTypeBrowsingWeb) { activity in
            if let url = activity.webpageURL { openURL(url) }
        }
        .alert(Text("Failed"), isPresented: $model.isAlertShown, presenting: model.alert) { _ in
            Button("OK", role: .cancel) { focus = .email }
        } message: { message in
            Text(message)
        }
        .accessibilityElement(children: .contain)
        .accessibilityLabel("Sign in")
    }
}

extension View {
    #if os(macOS)
        fileprivate func sampleEmail() -> some View { textContentType(.username) }
    #elseif os(watchOS)
        fileprivate func sampleEmail() -> some View { textContentType(.username).textInputAutocapitalization(.never) }
    #else
        fileprivate func sampleEmail() -> some View {
            textContentType(.username).keyboardType(.emailAddress).textInputAutocapitalization(.never)
        }
    #endif
}

struct SampleList: View {
    let load: @Sendable () async -> Void

    var body: some View {
        List([1, 2], id: \.self) { NavigationLink("Row \($0)", value: $0) }
            .overlay { ContentUnavailableView("Nothing here", systemImage: "tray", description: Text("Try again")) }
            .refreshable(action: load)
            .listStyle(.plain)
    }
}

struct SamplePreviews: PreviewProvider {
    static var previews: some View {
        SampleScreen(model: SampleModel()).previewDisplayName("Empty")
        SampleList {}.dynamicTypeSize(.accessibility3)
    }
}
