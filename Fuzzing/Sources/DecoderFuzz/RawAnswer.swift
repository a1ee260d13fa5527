import HTTPTypes

/// An answer as libFuzzer writes it: the status in a line, headers in lines, an empty line, the body. What is missing is made up.
struct RawAnswer {
    var status = 500
    var headers = HTTPFields()
    var body: ArraySlice<UInt8>

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        var rest = Array(bytes)[...]
        let newline = UInt8(ascii: "\n")
        if let number = Int(String(decoding: rest.prefix { $0 != newline }, as: UTF8.self)), (100...599).contains(number) {
            status = number
        }
        rest = rest.drop { $0 != newline }.dropFirst()
        while let line = rest.split(separator: newline, maxSplits: 1, omittingEmptySubsequences: false).first, !line.isEmpty {
            let pair = line.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
            if pair.count == 2, let name = HTTPField.Name(String(decoding: pair[0], as: UTF8.self)) {
                headers.append(HTTPField(name: name, value: String(decoding: pair[1], as: UTF8.self)))
            }
            rest = rest.dropFirst(line.count + 1)
        }
        body = rest.dropFirst()
    }
}
