public import ErrorContract
public import Foundation
public import HTTPTypes

/// The pages of a list, requested one after another as they are read. Each iteration begins with the first page.
///
/// ```swift
/// struct OrderPage: Decodable { var results: [Order]; var nextCursor: String? }
///
/// let pages = api.pages("/orders", of: OrderPage.self, by: .cursor { $0.nextCursor })
/// for try await order in pages.items(\.results) { show(order) }
/// ```
public struct PageSequence<Page: Decodable & Sendable>: AsyncSequence, Sendable {
    /// A page.
    public typealias Element = Page
    /// The error that a page can fail with; it ends the sequence.
    public typealias Failure = APIError

    let client: APIClient
    let first: Paging<Page>.Address
    let paging: Paging<Page>
    let headers: HTTPFields
    let options: CallOptions
    let context: String?

    /// Begins with the first page.
    public func makeAsyncIterator() -> Iterator { Iterator(sequence: self, address: paging.first(first)) }

    /// Requests the pages of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        let sequence: PageSequence
        var address: Paging<Page>.Address?
        var number = 0

        /// The next page; `nil` after the last one and after an error.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws(APIError) -> Page? {
            guard let present = address else { return nil }
            address = nil
            let client = sequence.client
            let response: APIResponse<Page> = try await client.response(
                .get,
                present.path,
                query: present.query,
                headers: sequence.headers,
                options: sequence.options,
                context: sequence.context
            )
            number += 1
            do {
                address = try sequence.paging.next(response, present, number, client)
            } catch {
                throw APIError(error, context: sequence.context)
            }
            // A server that names the same page as the next one would be asked for ever.
            if address == present { throw APIError(.decoding, context: sequence.context) }
            return response.value
        }
    }

    /// The items of all pages, one after another.
    public func items<Item: Sendable>(_ items: @escaping @Sendable (Page) -> [Item]) -> PageItems<Page, Item> {
        PageItems(pages: self, items: items)
    }
}

extension PageSequence {
    /// The elements of all pages, one after another.
    public func items<Item: Sendable>() -> PageItems<Page, Item> where Page == [Item] {
        items { $0 }
    }
}

/// The items of all pages of a list, one after another; pages are requested as their items are read.
public struct PageItems<Page: Decodable & Sendable, Item: Sendable>: AsyncSequence, Sendable {
    /// An item.
    public typealias Element = Item
    /// The error that a page can fail with; it ends the sequence.
    public typealias Failure = APIError

    let pages: PageSequence<Page>
    let items: @Sendable (Page) -> [Item]

    /// Begins with the first item.
    public func makeAsyncIterator() -> Iterator { Iterator(pages: pages.makeAsyncIterator(), items: items) }

    /// Hands out the items of one iteration.
    public struct Iterator: AsyncIteratorProtocol {
        var pages: PageSequence<Page>.Iterator
        let items: @Sendable (Page) -> [Item]
        var present: ArraySlice<Item> = []

        /// The next item; `nil` after the last one and after an error.
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
    /// The pages of a list, requested one after another as they are read.
    ///
    /// By default every request waits in line, until its deadline, when the server limits the client. To request several pages at once, use
    /// ``allPages(_:of:numbers:parameter:atOnce:query:headers:options:context:)``.
    /// - Parameters:
    ///   - path: The path of the list, as for ``get(_:query:headers:options:context:)``.
    ///   - type: The type of a page.
    ///   - paging: How the next page is found.
    ///   - query: Items that are appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: How the calls differ from the policy of their endpoint.
    ///   - context: Where in the app the calls are made.
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

    /// Requests pages whose numbers or offsets are known, several at once, and returns them in the order of their numbers.
    ///
    /// By default every request waits in line, until its deadline, when the server limits the client. The first error cancels the requests in
    /// flight and is thrown.
    ///
    /// ```swift
    /// let pages: [[Order]] = try await api.allPages("/orders", numbers: 1...50, atOnce: 5)
    /// ```
    /// - Parameters:
    ///   - path: The path of the list, as for ``get(_:query:headers:options:context:)``.
    ///   - type: The type of a page.
    ///   - numbers: The numbers of the pages, or their offsets: `stride(from: 0, to: 1_000, by: 20)`.
    ///   - parameter: The item of the query that carries the number.
    ///   - limit: The largest number of requests in flight.
    ///   - query: Items that are appended to the query of the path.
    ///   - headers: Further headers.
    ///   - options: How the calls differ from the policy of their endpoint.
    ///   - context: Where in the app the calls are made.
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
        do {
            try await withThrowingTaskGroup(of: (Int, Page).self) { group in
                for (place, address) in addresses.enumerated() {
                    if place >= limit, let (done, page) = try await group.next() { pages[done] = page }
                    group.addTask {
                        let page: Page = try await get(
                            address.path,
                            query: address.query,
                            headers: headers,
                            options: options,
                            context: context
                        )
                        return (place, page)
                    }
                }
                for try await (place, page) in group { pages[place] = page }
            }
        } catch {
            throw APIError(error, context: context)
        }
        return pages.compactMap(\.self)
    }

    /// The address of a page that a link of another page names. Its scheme doesn't matter: servers behind proxies write `http`.
    /// - Throws: ``APIError`` of the kind `invalidRequest` if it is at another host or outside the base URL.
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
