/// A success that may be wrapped (`{"success":true,"data":{…}}`) or flat; the same model decodes from both.
///
/// Whether the body is a success at all is decided before, by ``ErrorDecoder/refusalInSuccess(status:headers:body:now:)``.
struct SuccessEnvelope<Value: Decodable>: Decodable {
    let value: Value

    private enum Key: CodingKey { case success, data }

    init(from decoder: any Decoder) throws {
        guard let container = try? decoder.container(keyedBy: Key.self), container.contains(.data),
            (try? container.decodeIfPresent(Bool.self, forKey: .success)) == true
        else {
            value = try Value(from: decoder)
            return
        }
        do {
            value = try container.decode(Value.self, forKey: .data)
        } catch {
            // A flat model may have members named `success` and `data` of its own.
            guard let flat = try? Value(from: decoder) else { throw error }
            value = flat
        }
    }
}
