import AccountKit
import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import JournalTesting
import OfflineQueue
import OfflineQueueUI
import ResilientHTTP
import Testing

@Suite("Screen of pending requests", .timeLimit(.minutes(5))) @MainActor struct PendingRequestsModelTests {
    @Test("Lists the waiting requests in order with the names that the app gives them")
    func waiting() async throws {
        let bench = try await ScreenBench()
        #expect(bench.model.emptyText == nil, "the list was not loaded yet")
        await bench.model.load()
        #expect(bench.model.emptyText == "All changes have been sent")
        try await bench.enqueue("first")
        try await bench.enqueue("second")
        #expect(bench.model.waiting.map(\.title) == ["first", "second"])
        #expect(bench.model.waiting.map(\.status) == ["Waiting to be sent", "Waiting to be sent"])
        #expect(bench.model.waiting.allSatisfy { $0.actions == [.cancel] && !$0.createdText.isEmpty && !$0.isFailed })
        #expect(bench.model.failed.isEmpty && bench.model.notices.isEmpty && bench.model.emptyText == nil)
    }

    @Test("Reports how many requests the list does not contain")
    func limit() async throws {
        let bench = try await ScreenBench(limit: 2)
        for number in 1...5 { try await bench.enqueue("\(number)") }
        #expect(bench.model.waiting.map(\.title) == ["1", "2"])
        #expect(bench.model.hiddenCount == 3 && bench.model.hiddenText == "And 3 more")
    }

    @Test("Lists no requests with a negative limit")
    func negativeLimit() async throws {
        let bench = try await ScreenBench(limit: -1)
        try await bench.enqueue("1")
        #expect(bench.model.waiting.isEmpty && bench.model.hiddenCount == 1)
    }

    @Test("Cancels a request that was not sent, so that it is never sent")
    func cancel() async throws {
        let bench = try await ScreenBench([.response(status: 200)])
        let first = try await bench.enqueue("first")
        try await bench.enqueue("second")
        #expect(await bench.model.perform(.cancel, on: first) == nil)
        #expect(bench.model.waiting.map(\.title) == ["second"])
        await bench.drain()
        #expect(bench.transport.sent.count == 1 && bench.model.waiting.isEmpty)
        #expect(bench.model.announcement?.text == "All changes have been sent")
    }

    @Test("Shows that a request waits for the network, and sends it at the user's request")
    func network() async throws {
        let bench = try await ScreenBench([.offline, .response(status: 200)])
        bench.connectivity.report(isOnline: false)
        let id = try await bench.enqueue("first")
        #expect(bench.model.waiting.map(\.state) == [.waitingForNetwork])
        #expect(bench.model.notices.map(\.kind) == [.offline] && bench.model.notices.first?.actionLabel == nil)
        await bench.drain()
        #expect(bench.model.waiting.map(\.id) == [id] && bench.model.waiting.first?.status == "Waiting for network")
        #expect(bench.model.waiting.first?.actions == [.cancel], "no byte was sent")
        bench.connectivity.report(isOnline: true)
        await bench.model.sendNow()
        #expect(bench.model.notices.isEmpty)
        await bench.drain()
        #expect(bench.model.waiting.isEmpty)
    }

    @Test("Asks before it removes a request that the server may have received")
    func removeSent() async throws {
        let bench = try await ScreenBench([.lost])
        let id = try await bench.enqueue("first")
        await bench.drain()
        #expect(bench.model.waiting.map(\.state) == [.waitingForRetry])
        #expect(bench.model.waiting.first?.actions == [.remove])
        await bench.model.perform(.remove, on: id)
        let question = try #require(bench.model.confirmation)
        #expect(
            question.confirmLabel == "Remove" && question.cancelLabel == "Cancel" && question.message.contains("doesn't undo")
        )
        bench.model.dismissConfirmation()
        #expect(bench.model.confirmation == nil && bench.model.waiting.count == 1)
        await bench.model.perform(.remove, on: id)
        await bench.model.confirm(question)
        #expect(bench.model.confirmation == nil && bench.model.waiting.isEmpty)
        #expect(bench.queue.counts.pending == 0)
        #expect(bench.model.announcement == nil, "no change was sent")
    }

    @Test("Asks instead of canceling if an attempt began since the list was read")
    func cancelTooLate() async throws {
        let bench = try await ScreenBench([.lost])
        let id = try await bench.enqueue("first")
        await bench.queue.drain()
        #expect(bench.model.waiting.first?.actions == [.cancel])
        await bench.model.perform(.cancel, on: id)
        #expect(bench.model.confirmation?.action == .remove && bench.model.currentAlert == nil)
        #expect(bench.queue.counts.pending == 1)
    }

    @Test("Shows the server's reason for a refusal; a retry sends the request again")
    func refusal() async throws {
        let bench = try await ScreenBench([.refusal(.resourceNotFound, status: 404), .response(status: 200)])
        let id = try await bench.enqueue("first")
        await bench.drain()
        let row = try #require(bench.model.failed.first)
        #expect(row.id == id && row.isFailed && row.state == .failed(.refused) && row.actions == [.retry, .remove])
        #expect(row.status == ErrorCatalogue.standard[.resourceNotFound]?.message.text(in: .english))
        #expect(bench.model.waiting.isEmpty && bench.model.emptyText == nil)
        await bench.model.perform(.retry, on: id)
        #expect(bench.model.confirmation == nil && bench.model.failed.isEmpty && bench.model.waiting.count == 1)
        await bench.drain()
        #expect(bench.transport.sent.count == 2 && bench.model.waiting.isEmpty && bench.model.failed.isEmpty)
    }

    @Test("Removes a refused request without a question")
    func removeRefused() async throws {
        let bench = try await ScreenBench([.refusal(.resourceNotFound, status: 404)])
        let id = try await bench.enqueue("first")
        await bench.drain()
        await bench.model.perform(.remove, on: id)
        #expect(bench.model.confirmation == nil && bench.model.failed.isEmpty && bench.queue.counts.deadLetters == 0)
    }

    @Test("Asks before it sends a request again that the server may have performed")
    func retryUnknown() async throws {
        let bench = try await ScreenBench([.lost, .lost]) { $0.limits.keyLifetime = .zero }
        let id = try await bench.enqueue("first")
        await bench.drain()
        bench.queue.wake()
        await bench.drain()
        #expect(bench.model.failed.map(\.state) == [.failed(.unknownOutcome)])
        #expect(bench.model.failed.first?.status == "Sent, but it is not known whether it was saved")
        await bench.model.perform(.retry, on: id)
        let question = try #require(bench.model.confirmation)
        #expect(question.action == .retry && bench.model.failed.count == 1)
        await bench.model.confirm(question)
        #expect(bench.model.failed.isEmpty && bench.model.waiting.count == 1)
    }

    @Test("Shows a request that was not sent within its lifetime")
    func expired() async throws {
        let bench = try await ScreenBench()
        try await bench.enqueue("first", lifetime: .zero)
        await bench.drain()
        #expect(bench.model.failed.map(\.status) == ["Not sent in time"])
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("Shows which requests wait for a failed one of their lane")
    func stoppedLane() async throws {
        let bench = try await ScreenBench([.refusal(.resourceNotFound, status: 404)]) {
            $0.lanePolicies["steps"] = .stopsOnFailure
        }
        try await bench.enqueue("first", lane: "steps")
        try await bench.enqueue("second", lane: "steps")
        await bench.drain()
        #expect(bench.model.failed.map(\.title) == ["first"])
        #expect(bench.model.waiting.map(\.state) == [.waitingForPredecessor])
    }

    @Test("Shows that a request waits for a failed one that is beyond the limit of the list")
    func stoppedLaneBeyondLimit() async throws {
        let refusal = ScriptedTransport.Step.refusal(.resourceNotFound, status: 404)
        let bench = try await ScreenBench([refusal, refusal], limit: 1) {
            $0.lanePolicies = ["steps": .stopsOnFailure, "parts": .stopsOnFailure]
        }
        try await bench.enqueue("first", lane: "steps")
        try await bench.enqueue("second", lane: "parts")
        try await bench.enqueue("third", lane: "parts")
        await bench.drain()
        #expect(bench.model.failed.map(\.title) == ["first"] && bench.model.hiddenCount == 1)
        #expect(bench.model.waiting.map(\.title) == ["third"])
        #expect(bench.model.waiting.map(\.state) == [.waitingForPredecessor])
    }

    @Test("Shows only a signed-out account's request count, and leaves sign-in to the app")
    func signedOut() async throws {
        let bench = try await ScreenBench([.refusal(.resourceNotFound, status: 404)])
        try await bench.enqueue("first")
        await bench.drain()
        try await bench.enqueue("second")
        try await bench.signIn(nil)
        await bench.model.load()
        #expect(bench.model.waiting.isEmpty && bench.model.failed.isEmpty)
        let notice = try #require(bench.model.notices.first)
        #expect(notice.kind == .signInNeeded && notice.text.contains("2") && notice.actionLabel == "Sign In")
        #expect(await bench.model.perform(notice) == .signIn)

        try await bench.signIn("B")
        await bench.model.load()
        #expect(bench.model.waiting.isEmpty && bench.model.failed.isEmpty)
        #expect(bench.model.notices.map(\.kind) == [.otherAccount] && bench.model.notices.first?.actionLabel == nil)

        try await bench.signIn("A")
        await bench.model.load()
        #expect(bench.model.waiting.map(\.title) == ["second"] && bench.model.failed.map(\.title) == ["first"])
        #expect(bench.model.notices.isEmpty)
    }

    @Test("A request whose credentials the server refused needs a sign-in")
    func unauthorized() async throws {
        let bench = try await ScreenBench([.refusal(.authSessionExpired, status: 401)])
        let id = try await bench.enqueue("first")
        await bench.drain()
        let row = try #require(bench.model.waiting.first)
        #expect(row.state == .signInNeeded && row.status == "Sign in to continue" && row.actions.first == .signIn)
        #expect(await bench.model.perform(.signIn, on: id) == .signIn)
    }

    @Test("Follows the queue while the screen is visible, at most once per interval")
    func follows() async throws {
        let bench = try await ScreenBench()
        try await bench.whileVisible {
            #expect(await bench.becomesTrue { bench.model.isLoaded })
            let first = try await bench.queue.enqueue(.post, "/notes", ["a": "b"], context: "first")
            #expect(await bench.becomesTrue { bench.model.waiting.map(\.id) == [first] })
            #expect(await bench.becomesTrue { bench.clock.sleeperCount == 1 })
            try await bench.queue.enqueue(.post, "/notes", ["a": "b"], context: "second")
            try await bench.queue.enqueue(.post, "/notes", ["a": "b"], context: "third")
            #expect(bench.model.waiting.count == 1)
            #expect(
                await bench.becomesTrue {
                    bench.clock.advance(by: PendingRequestsModel.updateInterval)
                    return bench.model.waiting.count == 3
                }
            )
        }
    }

    @Test("Follows the queue and the network each time that the screen appears")
    func appearsAgain() async throws {
        let bench = try await ScreenBench()
        for number in 1...2 {
            try await bench.whileVisible {
                try await bench.queue.enqueue(.post, "/notes", ["a": "b"], context: "\(number)")
                #expect(
                    await bench.becomesTrue {
                        bench.clock.advance(by: PendingRequestsModel.updateInterval)
                        return bench.model.waiting.count == number
                    }
                )
                bench.connectivity.report(isOnline: false)
                #expect(
                    await bench.becomesTrue {
                        bench.clock.advance(by: PendingRequestsModel.updateInterval)
                        return bench.model.notices.map(\.kind) == [.offline]
                    }
                )
                bench.connectivity.report(isOnline: true)
                #expect(
                    await bench.becomesTrue {
                        bench.clock.advance(by: PendingRequestsModel.updateInterval)
                        return bench.model.notices.isEmpty
                    }
                )
            }
        }
    }

    @Test("Shows no failure that may be outdated because events are missing")
    func missedEvents() async throws {
        let folder = URL.temporaryDirectory.appending(path: "q\(UInt32.random(in: 0 ... .max))")
        let bench = try await ScreenBench([.offline], folder: folder)
        let other = try await ScreenBench(folder: folder)
        try await bench.whileVisible {
            #expect(await bench.becomesTrue { bench.model.isLoaded })
            try await bench.queue.enqueue(.post, "/notes", ["a": "b"], context: "first")
            await bench.queue.drain()
            #expect(
                await bench.becomesTrue {
                    bench.clock.advance(by: PendingRequestsModel.updateInterval)
                    return bench.model.waiting.map(\.state) == [.waitingForNetwork]
                }
            )
            // The queue of the screen finds a new file, and reports that events are missing.
            try await other.queue.adopt()
            #expect(try await bench.queue.pending().count == 1)
            #expect(
                await bench.becomesTrue {
                    bench.clock.advance(by: PendingRequestsModel.updateInterval)
                    return bench.model.waiting.map(\.state) == [.waiting]
                }
            )
        }
    }

    @Test("Removes the failures of discarded requests, and keeps those of others")
    func discarded() async throws {
        let bench = try await ScreenBench([.offline, .offline])
        try await bench.whileVisible {
            #expect(await bench.becomesTrue { bench.model.isLoaded })
            let first = try await bench.queue.enqueue(.post, "/notes", ["a": "b"], context: "first")
            try await bench.signIn("B")
            let second = try await bench.queue.enqueue(.post, "/notes", ["a": "b"], context: "second")
            await bench.queue.drain()
            try await bench.signIn("A")
            await bench.queue.drain()
            #expect(await bench.becomesTrue { Set(bench.model.failures.keys) == [first, second] })
            let owner = try #require(bench.queue.owners.first { $0.account == "A" })
            try await bench.queue.discard(owner: owner)
            #expect(await bench.becomesTrue { Set(bench.model.failures.keys) == [second] })
        }
    }

    @Test("Reports once that the list can't be read, and again at the user's retry")
    func unreadable() async throws {
        let files = ObservedFiles()
        let bench = try await ScreenBench { $0.files = files }
        await bench.model.load()
        #expect(bench.model.currentAlert == nil)
        files.fail()
        await bench.model.load()
        let alert = try #require(bench.model.currentAlert)
        #expect(alert.presentation.primary == .retry)
        bench.model.dismissAlert(alert.id)
        await bench.model.load()
        #expect(bench.model.currentAlert == nil)
        await bench.model.perform(.retry)
        #expect(bench.model.currentAlert != nil)
    }

    @Test("A canceled update or action shows no alert")
    func canceled() async throws {
        let bench = try await ScreenBench()
        let id = try await bench.enqueue("first")
        let task = Task { [model = bench.model] in
            while !Task.isCancelled { await Task.yield() }
            await model.load()
            await model.perform(.cancel, on: id)
        }
        task.cancel()
        await task.value
        #expect(bench.model.currentAlert == nil)
        #expect(bench.queue.counts.pending == 1 && bench.model.waiting.count == 1)
    }

    @Test("Shows an alert only after the confirmation has been closed")
    func alertDuringQuestion() async throws {
        let files = ObservedFiles()
        let bench = try await ScreenBench([.lost]) { $0.files = files }
        let id = try await bench.enqueue("first")
        await bench.drain()
        await bench.model.perform(.remove, on: id)
        let question = try #require(bench.model.confirmation)
        files.fail()
        await bench.model.load()
        #expect(bench.model.currentAlert == nil && bench.model.confirmation == question)
        bench.model.dismissConfirmation()
        let alert = try #require(bench.model.currentAlert)
        await bench.model.perform(.remove, on: id)
        #expect(bench.model.confirmation == nil, "the alert is shown")
        bench.model.dismissAlert(alert.id)
        await bench.model.perform(.remove, on: id)
        #expect(bench.model.confirmation == question && bench.model.currentAlert == nil)
    }

    @Test("A late dismissal of a question does not remove the same question asked again")
    func questionNumbers() async throws {
        let bench = try await ScreenBench([.lost])
        let id = try await bench.enqueue("first")
        await bench.drain()
        await bench.model.perform(.remove, on: id)
        let (question, number) = (bench.model.confirmation, bench.model.confirmationNumber)
        bench.model.dismissConfirmation(number)
        #expect(bench.model.confirmation == nil)
        await bench.model.perform(.remove, on: id)
        #expect(bench.model.confirmation == question && bench.model.confirmationNumber != number)
        bench.model.dismissConfirmation(number)
        #expect(bench.model.confirmation == question)
    }

    @Test("Announces a request that fails while the screen is visible")
    func announces() async throws {
        let bench = try await ScreenBench([.refusal(.resourceNotFound, status: 404)])
        await bench.whileVisible {
            #expect(await bench.becomesTrue { bench.model.isLoaded })
            _ = try? await bench.queue.enqueue(.post, "/notes", ["a": "b"], context: "first")
            await bench.queue.drain()
            #expect(await bench.becomesTrue { bench.model.announcement?.text == "A change was not sent" })
        }
    }

    @Test("Sends nothing of a copied queue before the user agrees")
    func restored() async throws {
        let folder = URL.temporaryDirectory.appending(path: "q\(UInt32.random(in: 0 ... .max))")
        do {
            let bench = try await ScreenBench(folder: folder) { $0.deviceID = "old" }
            try await bench.enqueue("first")
            let copy = URL(filePath: folder.path + "c")
            try FileManager.default.copyItem(at: folder, to: copy)
        }
        let bench = try await ScreenBench([.response(status: 200)], folder: URL(filePath: folder.path + "c")) {
            $0.deviceID = "new"
        }
        await bench.drain()
        let notice = try #require(bench.model.notices.first)
        #expect(notice.kind == .restored && notice.actionLabel == "Send Now" && bench.transport.sent.isEmpty)
        await bench.model.perform(notice)
        #expect(bench.model.notices.isEmpty)
        await bench.drain()
        #expect(bench.transport.sent.count == 1)
    }

    @Test("Every state and label has a text in every language", arguments: Language.supported)
    func languages(language: Language) async throws {
        let bench = try await ScreenBench([.lost], language: language)
        bench.connectivity.report(isOnline: false)
        try await bench.enqueue("first")
        let model = bench.model
        let texts =
            [model.screenTitle, model.waitingTitle, model.failedTitle, model.sendNowLabel]
            + model.notices.map(\.text) + model.waiting.map(\.status) + PendingRequest.Action.allCases.map(model.label)
        #expect(texts.allSatisfy { !$0.isEmpty } && Set(texts).count == texts.count)
        #expect(texts.allSatisfy { $0.contains(/[א-ת]/) == (language == .hebrew) })
    }
}

@Suite("Errors of a queue as the user sees them") struct QueueErrorTextTests {
    @Test(
        "A queue that is full or unavailable has a code and a text in every language",
        arguments: Language.supported,
        [QueueError.full(.count), .full(.bytes), .locked, .storage(CocoaError(.fileWriteOutOfSpace)), .unsuitableBody]
    )
    func texts(language: Language, error: QueueError) {
        let shown = error.apiError(context: "note").presentation(in: language, now: Date(timeIntervalSince1970: 0))
        let general = APIError(.custom).presentation(in: language, now: Date(timeIntervalSince1970: 0))
        #expect(shown.message != general.message)
        let isFull = if case .full = error { true } else { false }
        #expect(error.apiError(context: nil).code.rawValue == "OFFLINE_QUEUE_\(isFull ? "FULL" : "UNAVAILABLE")")
        #expect(
            language == .english || shown.message != error.apiError(context: nil).presentation(in: .english, now: .now).message
        )
    }

    @Test("A call without an account asks the user to sign in")
    func noIdentity() {
        let shown = QueueError.noIdentity.apiError(context: nil).presentation(in: .english, now: .now)
        #expect(shown.primary == .signIn)
    }
}
