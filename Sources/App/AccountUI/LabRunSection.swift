#if canImport(SwiftUI)
    import AccountKit
    import ErrorContract
    import ErrorLabContract
    import Foundation
    import SwiftUI

    /// The result of a run: the decoded error or the success, the steps of the run, the requests that the client sent, and the differences
    /// from the expected result in red.
    struct LabRunSection: View {
        let run: LabRun

        var body: some View {
            Section(run.scenario.name) {
                LabeledContent("Took", value: run.elapsed.formatted())
                if let error = run.error {
                    LabeledContent("Kind", value: error.kind.rawValue)
                    LabeledContent("Code", value: error.code.rawValue)
                    if let status = error.status { LabeledContent("Status", value: "\(status)") }
                    if let delay = error.retryAfter { LabeledContent("Retry after", value: delay.formatted()) }
                    LabeledContent("Retry", value: error.retry.rawValue)
                    LabeledContent("Recovery", value: error.recovery.rawValue)
                    if let id = error.requestID { LabeledContent("Request", value: id) }
                    ForEach(Array(error.violations.enumerated()), id: \.offset) { _, violation in
                        LabeledContent(violation.field, value: violation.message)
                    }
                } else {
                    Text("Succeeded")
                }
                LabStepList(steps: run.steps)
                ForEach(run.exchanges) { exchange in
                    LabeledContent("\(exchange.id). \(exchange.method)", value: exchange.outcome.description)
                }
                ForEach(run.differences, id: \.self) { Text($0).foregroundStyle(.red) }
            }
        }
    }

    /// The steps of a run, in order.
    struct LabStepList: View {
        let steps: [LabStep]

        var body: some View {
            ForEach(Array(steps.enumerated()), id: \.offset) { _, step in
                Text(step.description).font(.footnote)
            }
        }
    }
#endif
