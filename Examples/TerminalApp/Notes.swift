import ErrorContract
import HTTPTypes
import OfflineQueue
import OfflineQueueUI
import ResilientHTTP

/// The notes of the signed-in user, which can be written offline.
@MainActor
enum Notes {
    private struct Draft: Encodable {
        let title: String
        let items: [String] = []
    }

    private struct Note: Decodable {
        let title: String
    }

    /// Writes a note. It is sent now, or stored and sent later, in the order in which the notes were written.
    static func write(_ title: String, _ app: App) async throws(APIError) -> QueueResult<Void> {
        // The screen of pending changes shows the context as the name of the note.
        try await app.queue.send(.post, "/notes", Draft(title: title), options: .queued(lane: "notes"), context: title)
    }

    /// Returns the titles of the notes on the server.
    static func titles(_ app: App) async throws(APIError) -> [String] {
        let notes: [Note] = try await app.queue.client.get("/notes/mine")
        return notes.map(\.title)
    }

    static func makePendingModel(_ app: App) -> PendingRequestsModel {
        PendingRequestsModel(queue: app.queue, language: app.language) { $0.context ?? "" }
    }
}

/// A transport that the user can disconnect, like the airplane mode of a phone.
final class SwitchedNetwork: HTTPTransport {
    /// Reports the switch to the client.
    let connectivity = Connectivity()
    private let transport: any HTTPTransport

    init(_ transport: any HTTPTransport) { self.transport = transport }

    /// Whether requests are sent.
    var isOnline: Bool {
        get { connectivity.isOnline }
        set { connectivity.report(isOnline: newValue) }
    }

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        guard isOnline else { throw TransportError(.noInternet, message: "airplane mode", wasSent: false) }
        return try await transport.send(request, body: body, timeout: timeout)
    }
}
