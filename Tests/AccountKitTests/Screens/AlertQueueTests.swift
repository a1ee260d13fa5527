import AccountKit
import ErrorContract
import HoldfastTesting
import Testing

@MainActor
@Suite("Alerts of a screen")
struct AlertQueueTests {
    private func alert(_ id: Int) -> ScreenDialog {
        .alert(ScreenAlert(id: id, presentation: ErrorPresentation(title: "Error", message: "The same text", primary: .retry)))
    }

    private func question(_ id: Int) -> ScreenDialog {
        .question(
            ScreenQuestion(
                id: id,
                title: "Pending Changes",
                message: "Remove the change?",
                confirmLabel: "Remove",
                cancelLabel: "Cancel",
                confirm: {},
                dismiss: {}
            )
        )
    }

    @Test("A second failure with the same text is a different alert")
    func identity() async throws {
        let model = try ScreenScript([.unreachable, .unreachable]).signIn()
        await model.submit()
        let first = try #require(model.currentAlert)
        await model.perform(.retry)
        let second = try #require(model.currentAlert)
        #expect(first.presentation == second.presentation && first.id != second.id)
    }

    @Test("A late dismissal does not remove the alert of an immediate second failure")
    func lateDismissal() async throws {
        let script = try ScreenScript([.unreachable, .unreachable])
        let model = script.signIn()
        await model.submit()
        let first = try #require(model.currentAlert).id
        await model.perform(.retry)
        model.dismissAlert(first)
        #expect(model.isAlertShown)
        model.dismissAlert(try #require(model.currentAlert).id)
        #expect(!model.isAlertShown)
    }

    @Test("The alerts of every screen have an identity")
    func everyScreen() async throws {
        let forgot = try ScreenScript([.broken, .broken]).forgot()
        await forgot.request()
        let forgotAlert = try #require(forgot.currentAlert).id
        await forgot.perform(.retry)
        forgot.dismissAlert(forgotAlert)
        #expect(forgot.isAlertShown)
        let reset = try ScreenScript([.broken, .broken]).reset()
        await reset.open()
        let resetAlert = try #require(reset.currentAlert).id
        await reset.perform(.retry)
        reset.dismissAlert(resetAlert)
        #expect(reset.isAlertShown)
        let failed = ScriptedTransport.Step.labError(500, .serverDatabaseError)
        let lab = try LabScript([failed, failed])
        lab.model.followsAdvice = false
        try await lab.run("flaky")
        let labAlert = try #require(lab.model.currentAlert).id
        await lab.model.perform(.retry)
        lab.model.dismissAlert(labAlert)
        #expect(lab.model.isAlertShown)
    }

    @Test("An alert that sends the user to support names the reference")
    func supportReference() async throws {
        let model = try ScreenScript([.refusal(403, .authUserSuspended), .broken]).signIn(.spanish)
        await model.submit()
        let alert = try #require(model.currentAlert)
        let reference = try #require(alert.presentation.supportReference)
        #expect(alert.message(in: .spanish) == "\(alert.presentation.message)\n\nReferencia para soporte: \(reference)")
        await model.submit()
        let other = try #require(model.currentAlert)
        #expect(other.message(in: .spanish) == other.presentation.message)
    }

    @Test("Presents an alert, and keeps its texts while it disappears")
    func present() {
        var queue = AlertQueue()
        queue.follow(nil)
        #expect(!queue.isPresented)
        queue.follow(alert(1))
        #expect(queue.isPresented && queue.content == alert(1))
        queue.dismiss(.alert(1))
        queue.follow(nil)
        #expect(!queue.isPresented && queue.content == alert(1))
        queue.didClose()
        #expect(!queue.isPresented)
    }

    @Test("Presents the alert of an immediate second failure after the first one has closed")
    func immediateSecondFailure() {
        var queue = AlertQueue()
        queue.follow(alert(1))
        queue.dismiss(.alert(1))
        queue.follow(alert(2))
        #expect(!queue.isPresented, "SwiftUI would lose it now")
        queue.didClose()
        #expect(queue.isPresented && queue.content == alert(2))
    }

    @Test("A failure that replaces a visible alert closes that alert first")
    func replacement() {
        var queue = AlertQueue()
        queue.follow(alert(1))
        queue.follow(alert(2))
        #expect(!queue.isPresented && queue.content == alert(1))
        queue.didClose()
        #expect(queue.isPresented && queue.content == alert(2))
    }

    @Test("A dismissal that arrives late has no effect on the next alert")
    func lateDismissalInTheView() {
        var queue = AlertQueue()
        queue.follow(alert(1))
        queue.dismiss(.alert(1))
        queue.follow(alert(2))
        queue.didClose()
        queue.dismiss(.alert(1))
        #expect(queue.isPresented)
        queue.dismiss(.alert(2))
        #expect(!queue.isPresented)
    }

    @Test("An alert that the model removed while another one closed is not presented")
    func removed() {
        var queue = AlertQueue()
        queue.follow(alert(1))
        queue.dismiss(.alert(1))
        queue.follow(alert(2))
        queue.follow(nil)
        queue.didClose()
        #expect(!queue.isPresented)
        queue.follow(alert(3))
        #expect(queue.isPresented && queue.content == alert(3))
    }

    @Test("Presents an alert that follows a question only after the question has closed")
    func alertAfterQuestion() {
        var queue = AlertQueue()
        queue.follow(question(1))
        #expect(queue.isPresented && queue.content == question(1))
        // The model removes the question, so its alert is set in the same update.
        queue.follow(alert(1))
        #expect(!queue.isPresented && queue.content == question(1), "SwiftUI would lose it now")
        queue.didClose()
        #expect(queue.isPresented && queue.content == alert(1))
        queue.dismiss(.question(1))
        #expect(queue.isPresented, "the dismissal of the question arrives late")
    }

    @Test("Presents an alert after the user has decided a question")
    func alertAfterDecision() {
        var queue = AlertQueue()
        queue.follow(question(1))
        queue.dismiss(.question(1))
        queue.follow(alert(1))
        #expect(!queue.isPresented)
        queue.didClose()
        #expect(queue.isPresented && queue.content == alert(1))
    }

    @Test("Presents a question again if its number is new")
    func questionAgain() {
        var queue = AlertQueue()
        queue.follow(question(1))
        queue.dismiss(.question(1))
        queue.follow(nil)
        queue.didClose()
        queue.follow(question(2))
        #expect(queue.isPresented && queue.content == question(2))
    }
}
