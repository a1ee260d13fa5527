#if canImport(SwiftUI)
    public import AccountKit
    public import ErrorContract
    import ErrorLabContract
    public import SwiftUI

    /// The screen on which a developer tests the app's error handling against the error lab of a development server, which produces
    /// failures on demand. Use the screen in debug builds, because its texts are in English only.
    ///
    /// The screen lists the scenarios by group. A tap runs a scenario with the client of the model. The screen then shows the error that
    /// the client decoded, the requests that it sent, and the differences from the expected result in red.
    ///
    /// ```swift
    /// #if DEBUG
    ///     NavigationStack { ErrorLabView(model: labModel) }
    /// #endif
    /// ```
    ///
    /// The scenarios come from the server. If the server has no lab or can't be reached, the screen shows the built-in scenarios.
    ///
    /// There are no differences if the client has decoded the expected result. For tests without a view, use `ErrorLabModel`.
    public struct ErrorLabView: View {
        @Bindable private var model: ErrorLabModel
        private let perform: @MainActor (ErrorPresentation.Action) -> Void

        /// Creates the screen.
        /// - Parameters:
        ///   - model: The model of the screen.
        ///   - perform: Performs the action that the user chose in an alert, if the model doesn't perform this action itself. For
        ///     example, the app must contact support, or open the page of an update.
        public init(
            model: ErrorLabModel,
            perform: @escaping @MainActor (ErrorPresentation.Action) -> Void = { _ in }
        ) {
            self.model = model
            self.perform = perform
        }

        /// The list of scenarios with the result of the last run. The screen loads the list when it appears.
        public var body: some View {
            Form {
                Section {
                    Toggle("Do what the contract says", isOn: $model.followsAdvice)
                    if let failure = model.loadFailure { Text("Built-in scenarios: \(failure.description)").font(.footnote) }
                }
                if model.isRunning {
                    Section("Running") { LabStepList(steps: model.steps) }
                } else if let run = model.lastRun {
                    LabRunSection(run: run)
                    Button("Again") { model.work.start { await model.runAgain() } }
                }
                ForEach(model.sections) { section in
                    Section(section.group.rawValue) {
                        ForEach(section.scenarios) { scenario in
                            LabScenarioRow(scenario: scenario, isEnabled: !model.isRunning) {
                                model.work.start { await model.run(scenario) }
                            }
                        }
                    }
                }
            }
            .navigationTitle("Error lab")
            .task { await model.load() }
            .screen(model, perform: perform)
        }
    }

    /// A scenario with a button that starts it.
    private struct LabScenarioRow: View {
        let scenario: LabScenario
        let isEnabled: Bool
        let run: @MainActor () -> Void

        var body: some View {
            VStack(alignment: .leading) {
                Text(scenario.name).font(.headline)
                Text(scenario.summary)
                Text(scenario.advice).font(.footnote).foregroundStyle(.secondary)
                // With the automatic style, a tap anywhere in the row would press the button.
                Button("Try", action: run)
                    .buttonStyle(.borderless)
                    .disabled(!isEnabled)
                    .accessibilityLabel("Try \(scenario.name)")
            }
        }
    }
#endif
