import FilmLibrary
import HTTPSemantics

/// A film's poster in pages: every size that the picture service has, so that browsers take the one that fits. The frame has
/// the shape of a poster before anything is loaded, and a cut-paper cover with the title as long as there is no picture.
struct ShownPoster {
    /// The poster in its own size.
    let address: String
    /// Follows the size: a stored poster has a tag, under which a picture never changes.
    let suffix: String
    /// Whether sizes are made at all.
    let hasSizes: Bool

    private static let widths = [154, 185, 342, 500, 780]
    /// What a poster is taken to be, wide and high, until it is here. The frame's shape comes from the stylesheet.
    private static let size = (width: 342, height: 513)

    /// - Returns: nil where the film has none.
    init?(of film: StoredFilm, at address: String, hasSizes: Bool) {
        switch film.poster {
        case .none: return nil
        case .address: suffix = ""
        case .stored(_, _, let tag): suffix = ".v\(tag)"
        }
        self.address = "\(address)/poster"
        self.hasSizes = hasSizes
    }

    /// Attributes of a picture.
    /// - Parameters:
    ///   - sizes: how wide it is shown, as `sizes` of HTML has it.
    ///   - isLazy: whether it is loaded only when it is about to be seen.
    func attributes(sizes: String, isLazy: Bool) -> HTML.Attributes {
        var attributes: HTML.Attributes = [
            "src": hasSizes ? "\(address)/w342\(suffix)" : address,
            "width": "\(Self.size.width)", "height": "\(Self.size.height)",
            // The title stands beside it. So browsers draw no mark of their own over the cover if there is no picture.
            "alt": "", "decoding": "async",
        ]
        if isLazy { attributes.list.append(("loading", "lazy")) }
        if hasSizes {
            let set = Self.widths.map { "\(address)/w\($0)\(suffix) \($0)w" }.joined(separator: ", ")
            attributes.list += [("srcset", set), ("sizes", sizes)]
        }
        return attributes
    }
}

extension ShownFilm {
    /// The frame with the poster.
    func frame(_ html: inout HTML, sizes: String, isLazy: Bool) {
        html.element("span", ["class": "frame cover-\(Self.cover(id))"]) { html in
            html.element("span", ["class": "cover", "aria-hidden": "true", "dir": "auto"], text: title)
            if let poster {
                html.void(
                    "img", poster.attributes(sizes: sizes, isLazy: isLazy))
            }
        }
    }

    /// One of the six covers, the same for a film on every page.
    private static func cover(_ id: String) -> Int {
        Int(id.utf8.reduce(UInt32(0)) { $0 &* 31 &+ UInt32($1) } % 6)
    }
}
