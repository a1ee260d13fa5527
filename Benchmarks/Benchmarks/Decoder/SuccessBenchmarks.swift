import Benchmark
import Foundation
import HTTPTypes
import ResilientHTTP

/// The type that the samples contain.
private struct Activity: Codable, Sendable {
    var id: Int
    var name: String
    var tags: [String]
}

/// Returns the same body for every request.
private struct Echo: HTTPTransport {
    let body: [UInt8]

    func send(
        _ request: HTTPRequest,
        body: RequestBody?,
        timeout: Duration
    ) async throws(TransportError) -> (HTTPResponse, ResponseBody) {
        (HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]), ResponseBody(self.body))
    }
}

/// Measures whole calls with successful bodies of 1 KB and 64 KB, wrapped and flat, and Foundation's decoder alone.
func decodeSuccesses() {
    guard let url = URL(string: "https://api.example.org") else { return }
    for (size, count) in [("1 KB", 17), ("64 KB", 1_100)] {
        let activities = (0..<count).map { Activity(id: $0, name: "Activity no. \($0)", tags: ["a", "b"]) }
        guard let flat = try? JSONEncoder().encode(activities) else { continue }
        let wrapped = Data(#"{"success":true,"data":"#.utf8) + flat + Data("}".utf8)
        let configuration = Benchmark.Configuration(scalingFactor: .one, maxDuration: .seconds(2))
        Benchmark("success \(size), JSONDecoder alone", configuration: configuration) { benchmark in
            for _ in benchmark.scaledIterations { blackHole(try JSONDecoder().decode([Activity].self, from: flat)) }
        }
        for (form, body) in [("flat", flat), ("wrapped", wrapped)] {
            let client = APIClient(baseURL: url, transport: Echo(body: [UInt8](body)))
            Benchmark("success \(size), \(form)", configuration: configuration) { benchmark in
                for _ in benchmark.scaledIterations {
                    let value: [Activity] = try await client.get("/activities")
                    blackHole(value)
                }
            }
        }
    }
}
