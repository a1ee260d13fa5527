/// Addresses that some servers confused with another one, or might. None of them belongs to the account in question.
enum LookalikeAddress {
    /// All of them.
    static let all = dotless + widths + ligatures + confusables + domains + grammar + invisible

    /// Letters whose uppercase or lowercase form is an ASCII letter, as in the incidents of GitHub and Django.
    static let dotless = [
        "m\u{131}ke@example.org", "M\u{130}KE@example.org", "mi\u{307}ke@example.org", "mi\u{212A}e@example.org",
        "\u{212A}im@example.org", "i\u{17F}@example.org", "kim@example.o\u{17F}", "\u{131}s@example.org", "mike@g\u{131}thub.org",
    ]
    /// Characters that NFKC converts to ASCII.
    static let widths = [
        "\u{FF2D}\u{FF29}\u{FF2B}\u{FF25}@example.org", "mike\u{FF20}example.org", "mike@example\u{FF0E}org",
        "mike@example\u{3002}org",
        "\u{1D426}\u{1D422}\u{1D424}\u{1D41E}@example.org", "\u{24DC}\u{24D8}\u{24DA}\u{24D4}@example.org",
        "m\u{1D5C2}ke@example.org",
        "mike@ex\u{FF41}mple.org", "mike@\u{1D452}xample.org", "\u{2098}ike@example.org", "mik\u{1D49}@example.org",
    ]
    static let ligatures = ["\u{FB01}m@example.org", "mike@e\u{33CA}.org", "\u{2139}s@example.org", "mike@example.\u{2134}rg"]
    /// Letters of other scripts, and accents that a collation may ignore.
    static let confusables = [
        "m\u{456}ke@example.org", "mik\u{435}@example.org", "\u{43C}ike@example.org", "m\u{3B9}ke@example.org",
        "m\u{ED}ke@example.org",
        "mike@\u{435}xample.org", "mike@ex\u{E4}mple.org", "julian@c\u{FC}re53.de", "julian@cu\u{308}re53.de", "julian@cure53.de",
        "julian@C\u{DC}RE53.DE", "julian@cüre53.de.", "mike@examp\u{26F}e.org", "mike@example.\u{43E}rg",
        "mike@exampl\u{117}.org",
    ]
    static let domains = [
        "mike@example.org.", "mike@.example.org", "mike@example..org", "mike@xn--example-.org", "mike@xn--exmple-cua.org",
        "mike@example.org:25", "mike@[127.0.0.1]", "mike@127.0.0.1", "mike@example", "mike@-example.org", "mike@sub.example.org",
        "mike@EXAMPLE.ORG", "mike@XN--CRE53-LVA.DE", "julian@XN--CRE53-LVA.DE", "mike@example\u{AD}.org",
        "mike@e\u{200B}xample.org",
    ]
    static let grammar = [
        #""mike"@example.org"#, #""mike@example.org"@evil.org"#, #"mike"@evil.org"@example.org"#, "mike(comment)@example.org",
        "mike@example.org(comment)", "Mike <mike@example.org>", "<mike@example.org>", "mike@example.org,eve@evil.org",
        #"mi\ke@example.org"#,
        "mike@evil.org@example.org", "mike%evil.org@example.org", "mike!evil@example.org", "evil.org!mike@example.org",
        "@evil.org:mike@example.org", "mike+tag@example.org", "m.i.k.e@example.org", "mailto:mike@example.org",
        "mike@example.org?cc=eve",
        "mike @example.org", "mike@ example.org", "=?utf-8?q?mike?=@example.org", "mike&eve@example.org", "mike/eve@example.org",
        "+mike@example.org", "mike'--@example.org", "",
    ]
    static let invisible = [
        "mike\u{0}@example.org", "mike@example.org\u{0}", "mi\u{200B}ke@example.org", "mi\u{AD}ke@example.org",
        "mike\u{7F}@example.org",
        "mi\u{2060}ke@example.org", "\u{FEFF}mike@example.org", "mike\u{202E}@example.org", "\u{202E}gro.elpmaxe@ekim",
        "mi\tke@example.org",
        "mike@example.org\r\nBcc: eve@evil.org", "mike@example.org\u{2028}", "mi\u{34F}ke@example.org",
        "mike\u{E0041}@example.org",
        "mi\u{180E}ke@example.org", "mi\u{115F}ke@example.org", " mike@example.org ", "\u{A0}mike@example.org",
        "mi\u{FE0F}ke@example.org",
    ]
}
