import AccountContract
import ErrorContract
import Foundation
import Testing

@Suite struct EmailAddressTests {
    @Test(
        "Accepts an address and identifies the account by its lowercase form",
        arguments: [
            ("ana@example.org", "ana@example.org"), ("Ana@Example.ORG", "ana@example.org"),
            ("ANA@EXAMPLE.ORG", "ana@example.org"), ("  ana@example.org ", "ana@example.org"),
            ("ana@example.org\r\n", "ana@example.org"), ("\tana@example.org", "ana@example.org"),
            ("\u{3000}ana@example.org\u{A0}", "ana@example.org"), ("ana+shop@example.org", "ana+shop@example.org"),
            ("a%b@example.org", "a%b@example.org"), ("a_b-c.d@example.org", "a_b-c.d@example.org"), ("1@2.co", "1@2.co"),
            ("a@b.co", "a@b.co"), ("-.%+_@a-b.example", "-.%+_@a-b.example"),
            ("ana@mail.a1-b2.example.org", "ana@mail.a1-b2.example.org"), ("ana@a--b.org", "ana@a--b.org"),
            ("ana@xn--bcher-kva.example", "ana@xn--bcher-kva.example"),
            ("ana@XN--BCHER-KVA.example", "ana@xn--bcher-kva.example"),
        ]
    )
    func accepted(typed: String, normalized: String) throws {
        #expect(try EmailAddress(typed).normalized == normalized)
    }

    @Test(
        "Reads compatibility forms of letters as the letters",
        arguments: [
            ("ａｎａ＠ｅｘａｍｐｌｅ．ｏｒｇ", "ana@example.org"), ("ＡＮＡ＠ＥＸＡＭＰＬＥ．ＯＲＧ", "ana@example.org"),
            ("ana﹫example.org", "ana@example.org"), ("ﬁona@example.org", "fiona@example.org"),
            ("𝐚𝐧𝐚@example.org", "ana@example.org"), ("ⓐⓝⓐ@example.org", "ana@example.org"),
            ("\u{212A}im@example.org", "kim@example.org"), ("ana@e\u{2093}ample.org", "ana@example.org"),
            ("ana@example．org", "ana@example.org"),
        ]
    )
    func compatibility(typed: String, normalized: String) throws {
        #expect(try EmailAddress(typed).normalized == normalized)
    }

    @Test(
        "Encodes a domain beyond ASCII as punycode, whatever its case and composition",
        arguments: [
            ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("cüre53.de", "xn--cre53-kva.de"),
            ("münchen.de", "xn--mnchen-3ya.de"), ("straße.de", "xn--strae-oqa.de"), ("españa.es", "xn--espaa-rta.es"),
            ("é.fr", "xn--9ca.fr"), ("пример.рф", "xn--e1afmkfd.xn--p1ai"), ("δοκιμή.gr", "xn--jxalpdlp.gr"),
            ("例え.jp", "xn--r8jz45g.jp"), ("ドメイン.テスト", "xn--eckwd4c7c.xn--zckzah"), ("ひとつ屋根の下2.jp", "xn--2-u9tlzr9756bt3uc0v.jp"),
            ("パフィーdeルンバ.jp", "xn--de-jg4avhby1noc0d.jp"), ("そのスピードで.jp", "xn--d9juau41awczczp.jp"),
            ("安室奈美恵-with-SUPER-MONKEYS.jp", "xn---with-super-monkeys-pc58ag80a8qai00g7n9n.jp"),
            ("他们为什么不说中文.cn", "xn--ihqwcrb4cv8a8dqg056pqjye.cn"), ("한국.com", "xn--3e0b707e.com"),
            ("mail.bücher.example", "mail.xn--bcher-kva.example"),
        ]
    )
    func punycode(domain: String, ascii: String) throws {
        let address = try EmailAddress("julian@\(domain)")
        #expect(address.text == "julian@\(ascii)")
        #expect(try EmailAddress(address.text) == address, "the written form is read back as the same")
    }

    @Test("Delivers to the address as typed, with a lowercase domain")
    func text() throws {
        #expect(try EmailAddress(" Ana.B@Example.ORG").text == "Ana.B@example.org")
    }

    @Test("Addresses that differ only in case are equal")
    func equality() throws {
        #expect(try EmailAddress("Ana@example.org") == EmailAddress("ana@EXAMPLE.org"))
        #expect(try Set([EmailAddress("Ana@example.org"), EmailAddress("ANA@example.org")]).count == 1)
        #expect(try EmailAddress("ana@example.org") != EmailAddress("ana+1@example.org"))
    }

    @Test("Limits an address to 64 characters before the @, 63 per label and 254 in total")
    func bounds() throws {
        let (local, label) = (String(repeating: "l", count: 64), String(repeating: "d", count: 63))
        let tail = { String(repeating: "t", count: $0) }
        #expect(try EmailAddress("\(local)@\(label).\(label).\(tail(57)).org").text.utf8.count == 254)
        #expect(throws: EmailRefusal.tooLong) { try EmailAddress("\(local)@\(label).\(label).\(tail(58)).org") }
        #expect(throws: EmailRefusal.localPart) { try EmailAddress("l\(local)@example.org") }
        #expect(throws: EmailRefusal.domain) { try EmailAddress("ana@d\(label).org") }
        #expect(try EmailAddress("ana@example.\(label)").text.hasSuffix(label))
        #expect(throws: EmailRefusal.domain) { try EmailAddress("ana@example.d\(label)") }
        #expect(throws: EmailRefusal.tooLong) { try EmailAddress(String(repeating: "a", count: 1_025)) }
        #expect(throws: EmailRefusal.tooLong) { try EmailAddress(String(repeating: "a@", count: 500_000)) }
    }

    @Test("Refuses a label that is too long in punycode, however short its Unicode form")
    func longPunycode() throws {
        #expect(throws: EmailRefusal.domain) { try EmailAddress("ana@\(String(repeating: "ü", count: 63)).de") }
        #expect(try EmailAddress("ana@\(String(repeating: "ü", count: 30)).de").text.hasPrefix("ana@xn--"))
    }

    @Test("Descriptions hide the address")
    func hidden() throws {
        let address = try EmailAddress("ana@example.org")
        var dumped = ""
        dump([address], to: &dumped)
        for text in ["\(address)", String(reflecting: address), "\([address])", "\(Optional(address) as Any)", dumped] {
            #expect(!text.contains("ana") && !text.contains("example"))
        }
    }

    @Test("Encodes as one JSON string and refuses an invalid one with its reason")
    func codable() throws {
        let data = Data(#"["Ana@b\u00fccher.example"]"#.utf8)
        let addresses = try JSONDecoder().decode([EmailAddress].self, from: data)
        #expect(String(decoding: try JSONEncoder().encode(addresses), as: UTF8.self) == #"["Ana@xn--bcher-kva.example"]"#)
        #expect(throws: EmailRefusal.domain) { try JSONDecoder().decode([EmailAddress].self, from: Data(#"["ana@b"]"#.utf8)) }
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([EmailAddress].self, from: Data(#"[["ana@b.co"]]"#.utf8)) }
    }
}
