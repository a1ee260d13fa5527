import ErrorContract
import Foundation
import HTTPTypes

/// How the request for the next page follows from a page.
///
/// ```swift
/// for try await orders: [Order] in api.pages("/orders", by: .link) { show(orders) }
/// ```
public struct Paging<Page: Sendable>: Sendable {
    /// The address of one page.
    struct Address: Hashable, Sendable {
        var path: String
        var query: [URLQueryItem]

        /// The address with one item of the query in place of those of its name.
        func setting(_ name: String, to value: String) -> Address {
            Address(path: path, query: query.filter { $0.name != name } + [URLQueryItem(name: name, value: value)])
        }
    }

    let first: @Sendable (Address) -> Address
    /// Returns the next address; `nil` after the last page.
    let next: @Sendable (APIResponse<Page>, Address, _ number: Int, APIClient) throws -> Address?

    /// Each page names the next one in a header `Link` with `rel="next"` (RFC 8288), as GitHub and WordPress do.
    ///
    /// Only the path and the query of the link are used: requests with the session's token never go to another server. A link to another host
    /// ends the sequence with an error.
    public static var link: Paging {
        Paging {
            $0
        } next: { response, address, _, client in
            guard let target = LinkHeader.next(in: response.head.headerFields) else { return nil }
            return try client.address(of: target, from: address)
        }
    }

    /// Each page contains the cursor of the next one.
    /// - Parameters:
    ///   - parameter: The item of the query that carries the cursor.
    ///   - next: Returns the cursor of the next page; `nil` or an empty text after the last page.
    public static func cursor(_ parameter: String = "cursor", _ next: @escaping @Sendable (Page) -> String?) -> Paging {
        Paging {
            $0
        } next: { response, address, _, _ in
            next(response.value).flatMap { $0.isEmpty ? nil : address.setting(parameter, to: $0) }
        }
    }

    /// Pages have numbers.
    /// - Parameters:
    ///   - parameter: The item of the query that carries the number.
    ///   - first: The number of the first page.
    ///   - isLast: Whether a page is the last one, such as an empty one.
    public static func number(
        _ parameter: String = "page",
        from first: Int = 1,
        isLast: @escaping @Sendable (Page) -> Bool
    ) -> Paging {
        Paging {
            $0.setting(parameter, to: "\(first)")
        } next: { response, address, number, _ in
            isLast(response.value) ? nil : address.setting(parameter, to: "\(first + number)")
        }
    }

    /// Pages begin at an offset and have a size.
    /// - Parameters:
    ///   - parameter: The item of the query that carries the offset.
    ///   - limit: The item of the query that carries the size; `nil` if the server determines it.
    ///   - size: The size of a page. A page with fewer items is the last one.
    ///   - count: Returns the number of items of a page.
    /// - Precondition: `size` is positive.
    public static func offset(
        _ parameter: String = "offset",
        limit: String? = "limit",
        size: Int,
        count: @escaping @Sendable (Page) -> Int
    ) -> Paging {
        precondition(size > 0, "size must be positive (is \(size))")
        return Paging { address in
            let begin = address.setting(parameter, to: "0")
            return limit.map { begin.setting($0, to: "\(size)") } ?? begin
        } next: { response, address, number, _ in
            count(response.value) < size ? nil : address.setting(parameter, to: "\(number * size)")
        }
    }
}

extension Paging where Page: Collection {
    /// Pages are lists that begin at an offset; a list with fewer items than `size` is the last one.
    /// - Precondition: `size` is positive.
    public static func offset(_ parameter: String = "offset", limit: String? = "limit", size: Int) -> Paging {
        offset(parameter, limit: limit, size: size) { $0.count }
    }

    /// Pages are lists that have numbers; an empty list is the last one.
    public static func number(_ parameter: String = "page", from first: Int = 1) -> Paging {
        number(parameter, from: first) { $0.isEmpty }
    }
}

/// Reads the header `Link` (RFC 8288).
enum LinkHeader {
    /// The target of the first link whose relation is `next`.
    static func next(in fields: HTTPFields) -> String? {
        fields[values: .link].lazy.compactMap { next(in: $0) }.first
    }

    private static func next(in field: String) -> String? {
        var rest = field[...]
        while let open = rest.firstIndex(of: "<"), let close = rest[open...].firstIndex(of: ">") {
            let target = rest[rest.index(after: open)..<close]
            rest = rest[rest.index(after: close)...]
            let parameters = rest.prefix(upToUnquoted: ",")
            rest = rest[parameters.endIndex...].dropFirst()
            if relations(in: parameters).contains("next") { return String(target) }
        }
        return nil
    }

    private static func relations(in parameters: Substring) -> [String] {
        var rest = parameters
        while !rest.isEmpty {
            let parameter = rest.prefix(upToUnquoted: ";")
            rest = rest[parameter.endIndex...].dropFirst()
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, parts[0].lowercased() == "rel" else { continue }
            return parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\"")).lowercased().split(separator: " ").map(
                String.init
            )
        }
        return []
    }
}

extension Substring {
    /// The part up to a character that is not in quotes.
    fileprivate func prefix(upToUnquoted separator: Character) -> Substring {
        var isQuoted = false
        return prefix { character in
            if character == "\"" { isQuoted.toggle() }
            return isQuoted || character != separator
        }
    }
}
