/// HTML under construction. Names of elements and attributes are constants (`StaticString`). Every text and attribute
/// value is escaped when it is written, so a film's text can never become markup.
///
///     html.element("a", ["href": "films/nosferatu"]) { $0.text("Nosferatu & Co") }
///     <a href="films/nosferatu">Nosferatu &amp; Co</a>
struct HTML: Sendable {
    /// The attributes of an element. A nil value leaves the attribute out; a flag has an empty value.
    struct Attributes: ExpressibleByDictionaryLiteral {
        var list: [(StaticString, String?)]

        init(dictionaryLiteral elements: (StaticString, String?)...) { list = elements }

        static func + (one: Attributes, other: Attributes) -> Attributes {
            var all = one
            all.list += other.list
            return all
        }
    }

    /// UTF-8.
    private(set) var bytes: [UInt8] = []

    /// A whole page with its document type.
    static func page(_ content: (inout HTML) -> Void) -> [UInt8] {
        var html = HTML()
        html.bytes.reserveCapacity(64 << 10)
        html.raw("<!DOCTYPE html>\n")
        html.element("html", ["lang": "en"], content)
        html.raw("\n")
        return html.bytes
    }

    /// An element with content.
    mutating func element(
        _ name: StaticString, _ attributes: Attributes = [:], _ content: (inout HTML) -> Void
    ) {
        void(name, attributes)
        content(&self)
        raw("</")
        raw(name)
        raw(">")
    }

    /// An element with text.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], text: String) {
        element(name, attributes) { $0.text(text) }
    }

    /// A link.
    mutating func link(
        _ address: String, _ text: String, class style: String? = nil, _ attributes: Attributes = [:]
    ) {
        element("a", ["class": style, "href": address] + attributes, text: text)
    }

    /// An element that is always empty, such as `img`.
    mutating func void(_ name: StaticString, _ attributes: Attributes = [:]) {
        raw("<")
        raw(name)
        for (name, value) in attributes.list {
            guard let value else { continue }
            raw(" ")
            raw(name)
            raw("=\"")
            text(value)
            raw("\"")
        }
        raw(">")
    }

    mutating func text(_ text: String) {
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": raw("&amp;")
            case "<": raw("&lt;")
            case ">": raw("&gt;")
            case "\"": raw("&quot;")
            case "'": raw("&#39;")
            case _ where scalar.value >= 0x20 && scalar.value < 0x7F: bytes.append(UInt8(scalar.value))
            default: bytes.append(contentsOf: String(Self.shown(scalar)).utf8)
            }
        }
    }

    private mutating func raw(_ text: StaticString) { bytes.append(contentsOf: "\(text)".utf8) }

    /// A text for a page: U+FFFD replaces control characters and noncharacters, which are errors in HTML (the HTML
    /// standard, section 13.2.3.5).
    static func shown(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map(shown)))
    }

    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x09, 0x0A: scalar
        // Of CR LF the line feed stays. A lone CR is not a line end.
        case 0x0D: " "
        case 0..<0x20, 0x7F..<0xA0, 0xFDD0...0xFDEF: "\u{FFFD}"
        case let value where value & 0xFFFE == 0xFFFE: "\u{FFFD}"
        default: scalar
        }
    }

    /// A text for places without an element of their own, such as a page's title or a picture's text. Characters that
    /// change the writing direction are removed (UAX 9 sections 2.1 to 2.4).
    static func undirected(_ text: String) -> String {
        String(
            text.unicodeScalars.filter { scalar in
                !("\u{202A}"..."\u{202E}").contains(scalar) && !("\u{2066}"..."\u{2069}").contains(scalar)
            })
    }
}
