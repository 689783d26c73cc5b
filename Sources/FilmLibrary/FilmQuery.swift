import FoundationEssentials
import MovieCatalogue

/// A page of a library's films.
package struct FilmQuery: Sendable, Hashable {
    /// The orders there are. What is equal comes by title, then by id.
    package enum Sort: String, CaseIterable, Sendable {
        /// As they came into the library.
        case catalogue
        /// Best first, by the rating where there are votes; films without a score come last.
        case score
        /// Oldest first; films without a year come last.
        case year
        /// By title without its leading article, case and accents aside.
        case title

        /// The columns that the order goes by. An index has them in this order.
        var columns: [String] {
            switch self {
            case .catalogue: ["number"]
            case .score: ["score_key", "title_key", "id"]
            case .year: ["year_key", "title_key", "id"]
            case .title: ["title_key", "id"]
            }
        }

        /// The index of a table's own order needs no name.
        var index: String? { self == .catalogue ? nil : "films_by_\(rawValue)" }
    }

    package var sort: Sort
    /// Words that must all stand in title, original title, director, genres or year, case and accents aside.
    package var search: String
    /// The `next` of the page before; nil for the first page.
    package var after: String?
    /// The `previous` of the page after: of those before it the last. Counts instead of `after`.
    package var before: String?
    /// Films of a page at most.
    package var limit: Int

    package init(sort: Sort = .catalogue, search: String = "", after: String? = nil, limit: Int) {
        self.sort = sort
        self.search = search
        self.after = after
        self.limit = limit
    }

    /// The `after` of the films by title whose titles begin with a text, without an article and in small letters, or come
    /// after it.
    package static func start(ofTitles text: String) -> String {
        FilmCursor([.text(text), .text("")]).text(of: .title)
    }
}

/// Films in the order that was asked for.
package struct FilmPage: Sendable, Hashable {
    package let films: [StoredFilm]
    /// The cursor of the next page; nil on the last one.
    package let next: String?
    /// The cursor of the page before; nil on the first one.
    package let previous: String?
}

/// The place of a film in an order: its keys, so that it stays a place when the film is gone. As text it is base64url of
/// `["score", -8.5, "nosferatu", "nosferatu-1922"]`.
struct FilmCursor {
    let keys: [SQLValue]

    init(_ keys: [SQLValue]) { self.keys = keys }

    private enum Key: Decodable {
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // What is no number must be text, and then that error counts.
            if let number = try? container.decode(Double.self) {
                self = .number(number)
            } else {
                self = .text(try container.decode(String.self))
            }
        }
    }

    init(_ text: String, of sort: FilmQuery.Sort) throws(FilmLibraryError) {
        var base64 = text.replacing("-", with: "+").replacing("_", with: "/")
        base64 += String(repeating: "=", count: (4 - base64.utf8.count % 4) % 4)
        // Any failure means the same: it is no cursor.
        guard let data = Data(base64Encoded: base64),
            let keys = try? JSONDecoder().decode([Key].self, from: data),
            case .text(sort.rawValue) = keys.first, keys.count == sort.columns.count + 1
        else { throw .invalidCursor }
        self.keys = keys.dropFirst().map { key in
            switch key {
            case .number(let number): .real(number)
            case .text(let text): .text(text)
            }
        }
    }

    func text(of sort: FilmQuery.Sort) -> String {
        let keys = keys.map { key in
            switch key {
            case .integer(let number): JSONText(number)
            case .real(let number): JSONText(number)
            case .text(let text): JSONText(text)
            case .null, .blob: JSONText("")
            }
        }
        let data = Data(JSONText(elements: [JSONText(sort.rawValue)] + keys).text.utf8)
        let letters = data.base64EncodedString().utf8.compactMap { letter in
            switch letter {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            case UInt8(ascii: "="): UInt8?.none
            default: letter
            }
        }
        return String(decoding: letters, as: UTF8.self)
    }
}
