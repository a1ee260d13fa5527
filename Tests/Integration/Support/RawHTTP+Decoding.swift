import ErrorContract
import Foundation
import HTTPTypes

extension RawHTTP.Answer {
    /// The fields of the head.
    var fields: HTTPFields {
        var fields = HTTPFields()
        for line in headerLines {
            let halves = line.split(separator: ":", maxSplits: 1)
            guard halves.count == 2, let name = HTTPField.Name(String(halves[0])) else { continue }
            fields.append(HTTPField(name: name, value: halves[1].trimmingCharacters(in: .whitespaces)))
        }
        return fields
    }

    /// The error that this library's client decodes from the response.
    var decoded: DecodedError {
        ErrorDecoder().decode(status: status, headers: fields, body: body, now: Date())
    }
}
