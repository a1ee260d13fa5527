#if !canImport(SwiftUI)
    // snippet: command-line
    import Foundation
    import Holdfast

    struct Lesson: Codable, Sendable {
        var id: Int
        var title: String
    }

    @main
    struct Lessons {
        static func main() async {
            let address = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8000"
            guard let url = URL(string: address) else { return print("This is not an address: \(address)") }
            await list(APIClient(baseURL: url, language: .preferred()))
        }

        static func list(_ api: APIClient) async {
            do {
                let lessons: [Lesson] = try await api.get("/lessons.json")
                for lesson in lessons { print("\(lesson.id). \(lesson.title)") }
            } catch {
                let shown = error.presentation(in: api.language, now: Date())
                print("\(shown.title): \(shown.message)")
                print("For the log: \(error)")
            }
        }
    }
// snippet end
#endif
