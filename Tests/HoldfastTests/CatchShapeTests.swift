import Foundation
import Holdfast
import HoldfastTesting
import Testing

/// Compiles and runs each way to catch an error that the documentation shows.
@Suite struct CatchShapeTests {
    private struct Note: Decodable, Sendable {
        var title: String
    }

    private let missing = ScriptedTransport.Step.response(status: 404)

    private func client(_ steps: [ScriptedTransport.Step]) throws -> APIClient {
        let url = try #require(URL(string: "https://api.example.com"))
        return APIClient(baseURL: url, transport: ScriptedTransport(steps))
    }

    @Test("A plain catch has the typed error")
    func plain() async throws {
        let api = try client([missing])
        var notes: [Note] = []
        var shown: ErrorPresentation?
        // snippet: catch-plain
        do {
            notes = try await api.get("/api/notes")
        } catch {
            shown = error.presentation(in: api.language, now: Date())
        }
        // snippet end
        #expect(notes.isEmpty && shown?.primary == .dismiss)
    }

    @Test("A condition selects errors by kind")
    func condition() async throws {
        let api = try client([missing])
        var notes: [Note]?
        // snippet: catch-where
        do {
            notes = try await api.get("/api/notes")
        } catch  where error.kind == .notFound {
            notes = []
        } catch {
            print("\(error.code), attempt \(error.attempts)")
        }
        // snippet end
        #expect(notes?.isEmpty == true)
    }

    @Test("A block that throws other errors converts them")
    func mixed() async throws {
        let accounts = AccountClient(api: try client([missing]))
        var shown: [ErrorPresentation] = []
        for text in ["ana", "ana@example.com"] {
            // snippet: catch-mixed
            do {
                let email = try EmailAddress(text)
                _ = try await accounts.requestPasswordReset(email: email)
            } catch {
                shown.append(APIError(error).presentation(in: .english, now: Date()))
            }
            // snippet end
        }
        #expect(shown.count == 2)
    }

    @Test("A closure declares the type of the error")
    @MainActor
    func closure() async throws {
        let api = try client([missing])
        var codes: [ErrorCode] = []
        // snippet: catch-in-closure
        let task = Task {
            do throws(APIError) {
                _ = try await api.send(.post, "/api/notes")
            } catch {
                codes.append(error.code)
            }
        }
        // snippet end
        await task.value
        #expect(codes == [.notFound])
    }

    @Test("A function rethrows the typed error")
    func rethrown() async throws {
        let api = try client([missing])
        // snippet: catch-rethrow
        func titles() async throws(APIError) -> [String] {
            let notes: [Note] = try await api.get("/api/notes")
            return notes.map(\.title)
        }
        // snippet end
        do {
            _ = try await titles()
            Issue.record("The call must fail")
        } catch {
            #expect(error.status == 404)
        }
    }

    @Test("A result contains the typed error")
    func result() async throws {
        let api = try client([missing])
        // snippet: catch-result
        let result: Result<[Note], APIError>
        do {
            result = .success(try await api.get("/api/notes"))
        } catch {
            result = .failure(error)
        }
        // snippet end
        #expect(throws: APIError.self) { try result.get() }
    }
}
