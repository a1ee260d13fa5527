/// The bytes of a file, and what they begin with.
struct AssociationText {
    let byteCount: Int
    let hasByteOrderMark: Bool
    /// Whether this is a signed file of iOS 8 and earlier (CMS), which is no JSON.
    let isSigned: Bool
    /// The bytes without a byte order mark.
    let json: ArraySlice<UInt8>

    init(_ bytes: some Collection<UInt8>) {
        let all = Array(bytes)
        byteCount = all.count
        hasByteOrderMark = all.starts(with: [0xEF, 0xBB, 0xBF])
        isSigned = all.starts(with: [0x30, 0x80]) || all.starts(with: [0x30, 0x82]) || all.starts(with: [0x30, 0x83])
        json = hasByteOrderMark ? all.dropFirst(3) : all[...]
    }
}
