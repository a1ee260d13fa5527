import AsyncHTTPClient
import Foundation
import HTTPTypes
import NIOHTTP1
import ResilientHTTP
import Testing

@testable import HoldfastAsyncHTTPClient

@Suite struct RequestFactoryTests {
    @Test("A repeated address keeps no header and no body of an earlier request")
    func repeated() throws {
        let factory = RequestFactory()
        var request = HTTPRequest(method: .post, scheme: "http", authority: "a.example:81", path: "/b")
        request.headerFields[.authorization] = "Bearer 1"
        let first = try factory.make(request, body: .bytes([1]), isStreamed: false)
        #expect(first.headers.first(name: "Authorization") == "Bearer 1")
        request.headerFields = [.acceptLanguage: "en"]
        let second = try factory.make(request, body: nil, isStreamed: true)
        #expect(second.url == first.url && second.method == .POST)
        #expect(second.host == "a.example" && second.port == 81)
        #expect(second.headers.map { [$0.name, $0.value] } == [["Accept-Language", "en"], ["Accept-Encoding", "identity"]])
        #expect(second.body == nil)
    }

    @Test("Distinguishes methods, schemes, authorities and paths")
    func distinct() throws {
        let factory = RequestFactory()
        for method in [HTTPRequest.Method.get, .put] {
            for scheme in ["http", "https"] {
                for authority in ["a", "b:8080"] {
                    for path in ["/", "/c", "/c?d=1", "/c?d=2"] {
                        let request = HTTPRequest(method: method, scheme: scheme, authority: authority, path: path)
                        let message = try factory.make(request, body: nil, isStreamed: false)
                        #expect(message.url.absoluteString == "\(scheme)://\(authority)\(path)")
                        #expect(message.method.rawValue == method.rawValue)
                    }
                }
            }
        }
    }

    @Test("Refuses an authority with a user or a path, also when it is repeated")
    func invalid() {
        let factory = RequestFactory()
        for _ in 0..<2 {
            for authority in ["", "a@b", "a/b", "a b"] {
                let request = HTTPRequest(method: .get, scheme: "http", authority: authority, path: "/")
                #expect(throws: TransportError.self) { _ = try factory.make(request, body: nil, isStreamed: false) }
            }
        }
    }

    @Test("Makes more requests with different addresses than it keeps")
    func many() throws {
        let factory = RequestFactory()
        for number in 0..<200 {
            let request = HTTPRequest(method: .get, scheme: "http", authority: "a", path: "/\(number)")
            #expect(try factory.make(request, body: nil, isStreamed: false).url.path == "/\(number)")
        }
    }
}
