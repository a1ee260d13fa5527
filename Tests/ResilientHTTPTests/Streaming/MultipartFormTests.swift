import ErrorContract
import Foundation
import HTTPTypes
import HoldfastTesting
import ResilientHTTP
import Testing

@Suite("Multipart forms") struct MultipartFormTests {
    private func sent(_ form: MultipartForm) async throws -> (text: String, type: String, length: Int64?) {
        let transport = ScriptedTransport([.response(status: 204)])
        let body = form.body
        try await makeClient(transport).upload(.post, "/a", body)
        return (String(decoding: transport.sent.first?.body ?? [], as: UTF8.self), body.contentType, body.length)
    }

    @Test("Contain fields, data and files in order, and announce their length")
    func parts() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "holdfast-\(UUID().uuidString).txt")
        try Data("file".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        var form = MultipartForm(boundary: "B")
        form.append("Ana", name: "name")
        form.append([0x31, 0x32], name: "data", filename: "d.bin")
        form.append(file: file, name: "file", contentType: "text/plain")
        let (text, type, length) = try await sent(form)
        #expect(
            text == """
                --B\r
                Content-Disposition: form-data; name="name"\r
                \r
                Ana\r
                --B\r
                Content-Disposition: form-data; name="data"; filename="d.bin"\r
                Content-Type: application/octet-stream\r
                \r
                12\r
                --B\r
                Content-Disposition: form-data; name="file"; filename="\(file.lastPathComponent)"\r
                Content-Type: text/plain\r
                \r
                file\r
                --B--\r

                """
        )
        #expect(type == "multipart/form-data; boundary=B" && length == Int64(text.utf8.count))
    }

    @Test("Escape quotes and line ends in names as browsers do, and keep other characters")
    func names() async throws {
        var form = MultipartForm(boundary: "B")
        form.append("x\ny\rz\r\n", name: "a\"b\nc")
        form.append([], name: "ñ", filename: "mañana \"1\"\r\n%22\\.txt", contentType: "text/plain\r\nX-Evil: 1")
        let text = try await sent(form).text
        #expect(text.contains("name=\"a%22b%0D%0Ac\"\r\n\r\nx\r\ny\r\nz\r\n\r\n--B"))
        #expect(
            text.contains("name=\"ñ\"; filename=\"mañana %221%22%0D%0A%22\\.txt\"\r\nContent-Type: text/plainX-Evil: 1\r\n\r\n")
        )
    }

    @Test("Can be sent again, and have a unique boundary")
    func again() async throws {
        var form = MultipartForm()
        form.append("a", name: "b")
        let (first, second) = (try await sent(form), try await sent(form))
        #expect(first == second && first.text.contains("a"))
        #expect(MultipartForm().body.contentType != MultipartForm().body.contentType)
        #expect(form.body.contentType.utf8.count <= "multipart/form-data; boundary=".utf8.count + 70)
    }

    @Test("With a missing file fail without a request")
    func missing() async throws {
        var form = MultipartForm()
        form.append(file: URL(fileURLWithPath: "/nonexistent/file"), name: "b")
        let transport = ScriptedTransport([])
        let error = await failure { try await makeClient(transport).upload(.post, "/a", form.body) }
        #expect(error?.kind == .invalidRequest && transport.sent.isEmpty && form.body.length == nil)
    }
}
