/// Texts by which the page of somebody else is known, as far as they stand in it; letters of both cases count.
struct PageMarks: OptionSet {
    let rawValue: UInt16

    static let errorElement = Self(rawValue: 1 << 0)
    static let express = Self(rawValue: 1 << 1)
    static let nginx = Self(rawValue: 1 << 2)
    static let cloudflare = Self(rawValue: 1 << 3)
    /// What firewalls and portals say to a visitor who must prove himself or sign in.
    static let challenge = Self(rawValue: 1 << 4)
    static let accessDenied = Self(rawValue: 1 << 5)
    static let reference = Self(rawValue: 1 << 6)

    /// Looks through a page once. O(n).
    init(in page: UnsafeBufferPointer<UInt8>) {
        self = []
        for index in page.indices { insert(Self.mark(in: page, at: index)) }
    }

    init(rawValue: UInt16) {
        self.rawValue = rawValue
    }

    private static func mark(in page: UnsafeBufferPointer<UInt8>, at index: Int) -> PageMarks {
        let stands = { (text: StaticString) in page.stands(text, at: index, ignoringCase: true) }
        switch page[index] {
        case UInt8(ascii: "<"):
            if stands("<error") { return .errorElement }
            if stands("<center>nginx") || stands("<center>openresty") { return .nginx }
            return stands("<pre>cannot ") ? .express : []
        case UInt8(ascii: "c"), UInt8(ascii: "C"):
            if stands("cf-error") || stands("cloudflare") { return .cloudflare }
            return stands("captcha") || stands("captive portal") ? .challenge : []
        case UInt8(ascii: "a"), UInt8(ascii: "A"):
            if stands("attention required! | cloudflare") { return .challenge }
            return stands("access denied") ? .accessDenied : []
        case UInt8(ascii: "t"), UInt8(ascii: "T"): return stands("the requested url was rejected") ? .challenge : []
        case UInt8(ascii: "j"), UInt8(ascii: "J"): return stands("just a moment...") ? .challenge : []
        case UInt8(ascii: "r"), UInt8(ascii: "R"): return stands("reference&#32;&#35;") ? .reference : []
        case UInt8(ascii: "_"): return stands("_incapsula_resource") ? .challenge : []
        default: return []
        }
    }
}
