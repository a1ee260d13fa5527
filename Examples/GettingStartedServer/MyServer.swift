// snippet: server-first
import Hummingbird
import ServerMiddleware

struct Note: Decodable {
    let title: String
}

@main
struct MyServer {
    static func main() async throws {
        let router = ContractRouter(context: BasicContractContext.self)
        router.post("/notes") { request, context in try await request.decode(as: Note.self, context: context).title }
        let application = Application(router: router, server: .contractHTTP1())
        try await application.runService()
    }
}
// snippet end
