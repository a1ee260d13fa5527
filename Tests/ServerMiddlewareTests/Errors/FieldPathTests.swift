import ServerMiddleware
import Testing

@Suite struct FieldPathTests {
    @Test(
        "A location has a name for users and a pointer for programs",
        arguments: [
            ([], "", "#"), ([.member("email")], "email", "#/email"),
            ([.member("items"), .element(1), .member("name")], "items[1].name", "#/items/1/name"),
            ([.element(0)], "[0]", "#/0"), ([.element(2), .element(3)], "[2][3]", "#/2/3"),
            ([.element(0), .member("a")], "[0].a", "#/0/a"), ([.member("a"), .member("b")], "a.b", "#/a/b"),
        ] as [([FieldPath.Step], String, String)]
    )
    func forms(_ steps: [FieldPath.Step], name: String, pointer: String) {
        #expect(FieldPath(steps).name == name)
        #expect(FieldPath(steps).pointer == pointer)
    }

    @Test(
        "Escapes special characters in a pointer and a fragment",
        arguments: [
            ("~", "#/~0"), ("/", "#/~1"), ("~1", "#/~01"), ("a/b~c", "#/a~1b~0c"), ("%", "#/%25"), ("%2F", "#/%252F"),
            (" ", "#/%20"), ("\"", "#/%22"), ("#", "#/%23"), ("?", "#/%3F"), ("<>", "#/%3C%3E"), ("\\", "#/%5C"), ("", "#/"),
            ("ñ", "#/%C3%B1"), ("🐦", "#/%F0%9F%90%A6"), ("\n", "#/%0A"), ("\0", "#/%00"), ("^`{|}[]", "#/%5E%60%7B%7C%7D%5B%5D"),
            ("a-b._c!$&'()*+,;=:@", "#/a-b._c!$&'()*+,;=:@"), ("Straße", "#/Stra%C3%9Fe"),
        ]
    )
    func escaping(_ member: String, pointer: String) {
        #expect(FieldPath([.member(member)]).pointer == pointer)
    }

    @Test("A combining mark after a slash or a tilde does not hide it")
    func combiningMarks() {
        #expect(FieldPath([.member("/\u{301}")]).pointer == "#/~1%CC%81")
        #expect(FieldPath([.member("~\u{301}")]).pointer == "#/~0%CC%81")
    }
}
