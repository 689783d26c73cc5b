/// The field Content-Disposition of a file that browsers show (RFC 6266), with the name to save it under.
///
///     inline; filename="Nosferatu.jpg"
///     inline; filename="Das W_rterbuch.jpg"; filename*=UTF-8''Das%20W%C3%B6rterbuch.jpg
package enum ContentDisposition {
    /// The most bytes of a name: file systems take 255, with its ending.
    private static let longestName = 180

    /// - Parameters:
    ///   - name: any text. What no file's name can have becomes a space.
    ///   - ending: the end of the name, without its dot.
    package static func inline(_ name: String, ending: String) -> String {
        let plain = String(
            String.UnicodeScalarView(
                name.unicodeScalars.map { scalar in
                    let isControl = [.control, .format, .lineSeparator, .paragraphSeparator].contains(
                        scalar.properties.generalCategory)
                    return isControl || "/\\:*?\"<>|".unicodeScalars.contains(scalar) ? " " : scalar
                }))
        let words = plain.split(separator: " ").joined(separator: " ").drop { $0 == "." || $0 == " " }
        var size = 0
        let name = words.prefix {
            size += $0.utf8.count
            return size <= longestName
        }
        let text = (name.isEmpty ? "film" : String(name)) + ".\(ending)"
        let ascii = String(text.map { $0.isASCII ? $0 : "_" })
        let field = "inline; filename=\"\(ascii)\""
        // RFC 8187 section 3.2.1; programs that do not know it take the other name.
        return ascii == text ? field : field + "; filename*=UTF-8''\(PercentEncoding.encoded(text))"
    }
}
