public import ErrorContract
public import Foundation
public import HTTPTypes

/// A rule that derives the address of the next page from the present page.
///
/// ```swift
/// for try await orders: [Order] in api.pages("/orders", by: .link) { show(orders) }
/// ```
public struct Paging<Page: Sendable>: Sendable {
    /// The address of one page.
    struct Address: Hashable, Sendable {
        var path: String
        var query: [URLQueryItem]

        /// Returns the address with an item added to its query. The item replaces all items with the same name, also those in the path.
        func setting(_ name: String, to value: String) -> Address {
            let parts = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            var path = String(parts[0])
            if parts.count > 1 {
                let others = parts[1].split(separator: "&").filter { item in
                    String(item.prefix { $0 != "=" }).removingPercentEncoding != name
                }
                if !others.isEmpty { path += "?" + others.joined(separator: "&") }
            }
            return Address(path: path, query: query.filter { $0.name != name } + [URLQueryItem(name: name, value: value)])
        }
    }

    let first: @Sendable (Address) -> Address
    /// Returns the next address; `nil` after the last page.
    let next: @Sendable (APIResponse<Page>, Address, _ number: Int, APIClient) throws -> Address?

    /// A rule for responses whose header `Link` contains the address of the next page with `rel="next"` (RFC 8288). GitHub and WordPress
    /// send this header.
    ///
    /// The client uses only the path and the query of the link, so it never sends the session's token to another server. A link to another
    /// host ends the sequence with an error.
    public static var link: Paging {
        Paging {
            $0
        } next: { response, address, _, client in
            guard let target = LinkHeader.next(in: response.head.headerFields) else { return nil }
            return try client.address(of: target, from: address)
        }
    }

    /// Returns a rule for pages that contain a cursor. The cursor is a text that the client sends back in the request for the next page.
    /// - Parameters:
    ///   - parameter: The name of the query item with the cursor.
    ///   - next: Returns the cursor of the next page; `nil` or an empty string after the last page.
    public static func cursor(_ parameter: String = "cursor", _ next: @escaping @Sendable (Page) -> String?) -> Paging {
        Paging {
            $0
        } next: { response, address, _, _ in
            next(response.value).flatMap { $0.isEmpty ? nil : address.setting(parameter, to: $0) }
        }
    }

    /// Returns a rule for pages that have numbers. Each request contains the number of a page in a query item, such as `page=2`.
    /// - Parameters:
    ///   - parameter: The name of the query item with the number.
    ///   - first: The number of the first page.
    ///   - isLast: Returns whether a page is the last one. For example, the last page of some APIs is empty.
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

    /// Returns a rule for pages of a fixed size. Each request contains the offset of a page's first item, such as `offset=40&limit=20`.
    /// - Parameters:
    ///   - parameter: The name of the query item with the offset.
    ///   - limit: The name of the query item with the size; `nil` if the server determines the size.
    ///   - size: The size of a page. A page with fewer items is the last page.
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
    /// Returns a rule for pages that are lists of a fixed size. Each request contains the offset of a list's first item. A list with fewer
    /// items than `size` is the last page.
    /// - Parameters:
    ///   - parameter: The name of the query item with the offset.
    ///   - limit: The name of the query item with the size; `nil` if the server determines the size.
    ///   - size: The size of a page.
    /// - Precondition: `size` is positive.
    public static func offset(_ parameter: String = "offset", limit: String? = "limit", size: Int) -> Paging {
        offset(parameter, limit: limit, size: size) { $0.count }
    }

    /// Returns a rule for pages that are lists and have numbers. An empty list is the last page.
    /// - Parameters:
    ///   - parameter: The name of the query item with the number.
    ///   - first: The number of the first page.
    public static func number(_ parameter: String = "page", from first: Int = 1) -> Paging {
        number(parameter, from: first) { $0.isEmpty }
    }
}

/// Parses the header `Link` (RFC 8288).
enum LinkHeader {
    /// Returns the address of the first link with the relation `next`.
    static func next(in fields: HTTPFields) -> String? {
        fields[values: .link].lazy.compactMap { next(in: $0) }.first
    }

    /// Returns the address of the first link with the relation `next` in one field, which can contain several links.
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

    /// Returns the relations of a link from its parameters, in lowercase. Only the first parameter `rel` counts (RFC 8288 §3.3).
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
    /// Returns the part before a separator outside of quotes.
    fileprivate func prefix(upToUnquoted separator: Character) -> Substring {
        var isQuoted = false
        return prefix { character in
            if character == "\"" { isQuoted.toggle() }
            return isQuoted || character != separator
        }
    }
}

/// The pages of a list. The sequence requests the next page when the reader reaches it. Each iteration begins with the first page.
///
/// The requests of an iteration belong to one session. If this session ends or another one begins meanwhile, such as after another user
/// signed in, the next request fails with the kind `unauthorized`.
///
/// ```swift
/// struct OrderPage: Decodable { var results: [Order]; var nextCursor: String? }
///
/// let pages = api.pages("/orders", of: OrderPage.self, by: .cursor { $0.nextCursor })
/// for try await order in pages.items(\.results) { show(order) }
/// ```
public struct PageSequence<Page: Decodable & Sendable>: AsyncSequence, Sendable {
    /// The type of a page.
    public typealias Element = Page
    /// The error of a page. An error ends the sequence.
    public typealias Failure = APIError

    let client: APIClient
    let first: Paging<Page>.Address
    let paging: Paging<Page>
    let headers: HTTPFields
    let options: CallOptions
    let context: String?

    /// Creates an iterator that begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self, address: paging.first(first)) }

    /// Requests the pages of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: PageSequence
        var address: Paging<Page>.Address?
        var number = 0
        /// The address of an earlier page: the page with the highest number that is a power of two. A comparison with this address finds
        /// each repetition of addresses without storing all of them (Brent's algorithm).
        var earlier: Paging<Page>.Address?
        /// The error of the address of the next page.
        var failure: APIError?
        /// The session to which the requests are bound; `nil` before the first request with a session.
        var session: String?

        /// Returns the next page; `nil` after the last page and after an error.
        ///
        /// If the address of the next page is invalid, the method first returns the present page. The next call throws the error.
        /// - Parameter actor: The actor on which the method runs; by default, the actor of the caller.
        /// - Throws: `APIError` of the request. The kind is `invalidRequest` if this page is on another host than the page before, or
        ///   outside of the base URL. The kind is `decoding` if the addresses of the pages repeat. A repetition of several pages may be
        ///   found only after some of these pages were returned again.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(APIError) -> Page? {
            if let failure {
                self.failure = nil
                throw failure
            }
            guard let present = address else { return nil }
            address = nil
            let (client, options, context) = (sequence.client, sequence.options, sequence.context)
            if session == nil { session = try await client.sessionID(of: present.path, options: options, context: context) }
            let response: APIResponse<Page> = try await client.response(
                .init(.get, present.path, present.query, sequence.headers, options, context, session: session)
            )
            number += 1
            if number & (number - 1) == 0 { earlier = present }
            do {
                address = try sequence.paging.next(response, present, number, client)
                // If the next address equals the address of this page or of an earlier page, the iteration would never end.
                if let address, address == present || address == earlier { throw APIError(.decoding) }
            } catch {
                (address, failure) = (nil, client.localized(APIError(error, context: context)))
            }
            return response.value
        }
    }

    /// Returns the items of all pages as one sequence.
    /// - Parameter items: Returns the items of a page in their order. A page may have no items.
    public func items<Item: Sendable>(_ items: @escaping @Sendable (Page) -> [Item]) -> PageItems<Page, Item> {
        PageItems(pages: self, items: items)
    }
}

extension PageSequence {
    /// Returns the elements of all pages as one sequence.
    public func items<Item: Sendable>() -> PageItems<Page, Item> where Page == [Item] {
        items { $0 }
    }
}

/// The items of all pages of a list as one sequence. The sequence requests a page when the reader reaches its items.
public struct PageItems<Page: Decodable & Sendable, Item: Sendable>: AsyncSequence, Sendable {
    /// The type of an item.
    public typealias Element = Item
    /// The error of a page. An error ends the sequence.
    public typealias Failure = APIError

    let pages: PageSequence<Page>
    let items: @Sendable (Page) -> [Item]

    /// Creates an iterator that begins with the first item.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator(), items: items) }

    /// Returns the items of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        var pages: PageSequence<Page>.Iterator
        let items: @Sendable (Page) -> [Item]
        var present: ArraySlice<Item> = []

        /// Returns the next item; `nil` after the last item and after an error.
        /// - Parameter actor: The actor on which the method runs; by default, the actor of the caller.
        /// - Throws: `APIError` of the request for a page. The iterator has already returned the items of earlier pages.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(APIError) -> Item? {
            while present.isEmpty {
                guard let page = try await pages.next(isolation: actor) else { return nil }
                present = items(page)[...]
            }
            return present.popFirst()
        }
    }
}

extension APIClient {
    /// Returns the pages of a list. The sequence requests the next page when the reader reaches it. The client sends no request before the
    /// first read of the sequence.
    ///
    /// By default, a request waits until its deadline if the server limits the rate of requests. To request several pages at once, use
    /// ``allPages(_:of:numbers:parameter:atOnce:query:headers:options:context:)``.
    /// - Parameters:
    ///   - path: The path of the list, as for ``get(_:query:headers:options:context:)``.
    ///   - type: The type of a page.
    ///   - paging: The rule that derives the address of the next page.
    ///   - query: Items that are appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: The settings of these calls, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    public func pages<Page: Decodable & Sendable>(
        _ path: String,
        of type: Page.Type = Page.self,
        by paging: Paging<Page>,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = .waitsInLine,
        context: String? = nil
    ) -> PageSequence<Page> {
        PageSequence(
            client: self,
            first: Paging<Page>.Address(path: path, query: query),
            paging: paging,
            headers: headers,
            options: options,
            context: context
        )
    }

    /// Requests several pages at once and returns them in the order of their numbers. The numbers or offsets of the pages must be known.
    ///
    /// By default, a request waits until its deadline if the server limits the rate of requests. The method throws the first error and
    /// cancels the requests in flight. If another session begins meanwhile, the next request fails with the kind `unauthorized`.
    ///
    /// ```swift
    /// let pages: [[Order]] = try await api.allPages("/orders", numbers: 1...50, atOnce: 5)
    /// ```
    /// - Parameters:
    ///   - path: The path of the list, as for ``get(_:query:headers:options:context:)``.
    ///   - type: The type of a page.
    ///   - numbers: The numbers of the pages, or their offsets: `stride(from: 0, to: 1_000, by: 20)`.
    ///   - parameter: The name of the query item with the number.
    ///   - limit: The maximum number of requests in flight.
    ///   - query: Items that are appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: The settings of these calls, such as a timeout.
    ///   - context: A name for the operation. Errors of the call contain this name.
    /// - Returns: The pages in the order of `numbers`.
    /// - Throws: `APIError` of the first request that fails.
    /// - Precondition: `limit` is positive.
    public func allPages<Page: Decodable & Sendable>(
        _ path: String,
        of type: Page.Type = Page.self,
        numbers: some Sequence<Int>,
        parameter: String = "page",
        atOnce limit: Int = 5,
        query: [URLQueryItem] = [],
        headers: HTTPFields = [:],
        options: CallOptions = .waitsInLine,
        context: String? = nil
    ) async throws(APIError) -> [Page] {
        precondition(limit > 0, "limit must be positive (is \(limit))")
        let first = Paging<Page>.Address(path: path, query: query)
        let addresses = numbers.map { first.setting(parameter, to: "\($0)") }
        var pages = [Page?](repeating: nil, count: addresses.count)
        let session = try await sessionID(of: path, options: options, context: context)
        do {
            try await withThrowingTaskGroup(of: (Int, Page).self) { group in
                for (place, address) in addresses.enumerated() {
                    if place >= limit, let (done, page) = try await group.next() { pages[done] = page }
                    group.addTask {
                        let page: APIResponse<Page> = try await response(
                            .init(.get, address.path, address.query, headers, options, context, session: session)
                        )
                        return (place, page.value)
                    }
                }
                for try await (place, page) in group { pages[place] = page }
            }
        } catch {
            throw APIError(error, context: context)
        }
        return pages.compactMap(\.self)
    }

    /// Returns the address of a page from a link. The method ignores the scheme of the link, because servers behind proxies often send
    /// `http`.
    ///
    /// - Throws: `APIError` of the kind `invalidRequest` if the link leads to another host or outside of the base URL.
    func address<Page>(of link: String, from present: Paging<Page>.Address) throws(APIError) -> Paging<Page>.Address {
        let path = present.query.isEmpty ? present.path : present.path.appending(present.query)
        guard let base = BaseAddress(baseURL), let request = URL(string: base.origin + base.prefix + path),
            let url = URL(string: link, relativeTo: request),
            let parts = URLComponents(url: url, resolvingAgainstBaseURL: true), let target = BaseAddress(url.absoluteURL),
            target.host == base.host, parts.percentEncodedPath.hasPrefix(base.prefix + "/")
        else { throw APIError(.invalidRequest) }
        let query = parts.percentEncodedQuery.map { "?" + $0 } ?? ""
        return Paging<Page>.Address(path: parts.percentEncodedPath.dropFirst(base.prefix.count) + query, query: [])
    }
}
