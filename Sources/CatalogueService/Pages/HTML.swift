/// Text of HTML under construction. The names of elements and attributes are the code's own (`StaticString`); every text and
/// every attribute's value is escaped when it is written, whatever it holds. So no film can break out of its place.
///
///     html.element("a", ["href": "films/nosferatu"]) { $0.text("Nosferatu & Co") }
///     <a href="films/nosferatu">Nosferatu &amp; Co</a>
struct HTML: Sendable {
    /// The attributes of an element. One whose value is nil is left out; the value of a flag is empty.
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

    /// An element with what is in it.
    mutating func element(
        _ name: StaticString, _ attributes: Attributes = [:], _ content: (inout HTML) -> Void
    ) {
        void(name, attributes)
        content(&self)
        raw("</")
        raw(name)
        raw(">")
    }

    /// An element with a text in it.
    mutating func element(_ name: StaticString, _ attributes: Attributes = [:], text: String) {
        element(name, attributes) { $0.text(text) }
    }

    /// An element that never has anything in it, such as `img`.
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

    /// A text as a page has it: controls other than white space, and what is no character, are U+FFFD (the HTML standard,
    /// section 13.2.3.5, has them as errors).
    static func shown(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { shown.append(Self.shown(scalar)) }
        return String(shown)
    }

    private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x09, 0x0A: scalar
        // Of CR LF the line feed is left; a lone one ends no line either.
        case 0x0D: " "
        case 0..<0x20, 0x7F..<0xA0, 0xFDD0...0xFDEF: "\u{FFFD}"
        case let value where value & 0xFFFE == 0xFFFE: "\u{FFFD}"
        default: scalar
        }
    }

    /// A text for places that have no element of their own to hold its direction: a page's title, a picture's text. Marks that
    /// turn the direction of what follows are left out (UAX 9 sections 2.1 to 2.4).
    static func undirected(_ text: String) -> String {
        var plain = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 0x202A...0x202E, 0x2066...0x2069: break
            default: plain.append(scalar)
            }
        }
        return String(plain)
    }
}
