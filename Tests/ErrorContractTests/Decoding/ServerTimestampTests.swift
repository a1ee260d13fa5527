import ErrorContract
import Foundation
import HTTPTypes
import StrictJSON
import Testing

@Suite struct ServerTimestampTests {
    /// 2025-11-04T10:30:00Z
    private static let time = Date(timeIntervalSince1970: 1_762_252_200)

    private func read(_ body: JSONValue, headers: HTTPFields = [:]) -> Date? {
        let error = ErrorDecoder().decode(status: 404, headers: headers, body: body.encoded(), now: .distantPast)
        return APIError(error).serverTimestamp
    }

    @Test("Reads the server's timestamp in each form that contains it", arguments: [ErrorForm.standard, .flat, .problem])
    func forms(form: ErrorForm) {
        let payload = ErrorPayload(
            code: .resourceNotFound,
            status: 404,
            message: "m",
            timestamp: Self.time,
            requestID: "r1",
            title: "t",
            type: "https://example.org/errors/RESOURCE_NOT_FOUND"
        )
        #expect(read(form.body(of: payload), headers: [.contentType: form.contentType]) == Self.time)
    }

    @Test(
        "Reads an RFC 3339 timestamp with a fraction and an offset",
        arguments: [
            ("2025-11-04T10:30:00Z", 0), ("2025-11-04t10:30:00z", 0), ("2025-11-04T12:30:00+02:00", 0),
            ("2025-11-04T06:00:00-04:30", 0), ("2025-11-04T10:30:00.25Z", 0.25), ("2025-11-04T10:30:00.250000+00:00", 0.25),
            ("2025-11-04 10:30:01Z", 1),
        ] as [(String, Double)]
    )
    func internetDate(text: String, later: Double) throws {
        let date = try #require(read(["error": ["code": "A_B", "message": "m", "timestamp": .string(text)]]))
        #expect(abs(date.timeIntervalSince(Self.time) - later) < 0.000_01)
    }

    @Test(
        "Treats an invalid timestamp as absent",
        arguments: [
            "", "now", "2025-11-04", "2025-11-04T10:30:00", "2025-11-31T10:30:00Z", "2025-13-01T10:30:00Z",
            "2025-11-04T24:00:00Z", "2025-11-04T10:60:00Z", "2025-11-04T10:30:00.Z", "2025-11-04T10:30:00+2:00",
            "2025-11-04T10:30:00Zx",
            "2025-11-04T10:30:00+25:00", "٢٠٢٥-11-04T10:30:00Z", "2025-11-04T10:30:00.0000000000000000000000Z",
        ]
    )
    func garbage(text: String) {
        #expect(read(["error": ["code": "A_B", "message": "m", "timestamp": .string(text)]]) == nil)
    }

    @Test("Treats a timestamp of another type as absent", arguments: [1_762_252_200, .null, true, [], [:]] as [JSONValue])
    func wrongType(value: JSONValue) {
        #expect(read(["code": "A_B", "message": "m", "timestamp": value, "request_id": "r1"]) == nil)
    }
}
