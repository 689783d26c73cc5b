/// Base64 (RFC 4648 section 4): the form in which terminals take files.
enum Base64 {
    private static let alphabet = Array(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    static func encode(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](capacity: (bytes.count + 2) / 3 * 4) { output in
            let (bytes, alphabet) = (bytes.span, alphabet.span)
            for start in stride(from: 0, to: bytes.count, by: 3) {
                let rest = bytes.count - start
                let group =
                    Int(bytes[start]) << 16 | (rest > 1 ? Int(bytes[start + 1]) << 8 : 0)
                    | (rest > 2 ? Int(bytes[start + 2]) : 0)
                for place in 0..<4 {
                    let digit = alphabet[group >> (18 - 6 * place) & 63]
                    output.append(place > rest ? UInt8(ascii: "=") : digit)
                }
            }
        }
    }
}
