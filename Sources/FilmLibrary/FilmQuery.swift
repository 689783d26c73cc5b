import FoundationEssentials
import MovieCatalogue

/// A request for a page of a library's films.
package struct FilmQuery: Sendable, Hashable {
    /// The sort orders. Equal films are sorted by title, then by id.
    package enum Sort: String, CaseIterable, Sendable {
        /// The order in which the films were added.
        case catalogue
        /// Highest first: by rating if there are votes, otherwise by score. Films without either come last.
        case score
        /// Oldest first; films without a year come last.
        case year
        /// By title without its leading article, ignoring case and accents.
        case title

        /// The sort columns, in the order of the index.
        var columns: [String] {
            switch self {
            case .catalogue: ["number"]
            case .score: ["score_key", "title_key", "id"]
            case .year: ["year_key", "title_key", "id"]
            case .title: ["title_key", "id"]
            }
        }

        /// The index's name; nil for the table's own order.
        var index: String? { self == .catalogue ? nil : "films_by_\(rawValue)" }
    }

    package var sort: Sort
    /// Words that must all occur in title, original title, director, genres or year, ignoring case and accents.
    package var search: String
    /// The `next` of the previous page; nil for the first page.
    package var after: String?
    /// The `previous` of the next page, to page backwards. Overrides `after`.
    package var before: String?
    /// The most films in a page.
    package var limit: Int
    /// The most bytes of the stored texts of a page's films. The page ends before they would be more, but has at least
    /// one film; `next` goes on. Default: nil, any number.
    package var byteLimit: Int?

    package init(sort: Sort = .catalogue, search: String = "", after: String? = nil, limit: Int) {
        self.sort = sort
        self.search = search
        self.after = after
        self.limit = limit
    }

    /// The cursor of the first film whose title begins with a text, or follows it, in the order by title. The text has
    /// no article and is in lower case.
    package static func start(ofTitles text: String) -> String {
        FilmCursor([.text(text), .text("")]).text(of: .title)
    }
}

/// A page of films in the requested order.
package struct FilmPage: Sendable, Hashable {
    package let films: [StoredFilm]
    /// The cursor of the next page; nil on the last one.
    package let next: String?
    /// The cursor of the previous page; nil on the first one.
    package let previous: String?
}

/// The position of a film in a sort order. It holds the film's keys, so it stays valid after the film is removed. As
/// text it is base64url of `["score", -8.5, "nosferatu", "nosferatu-1922"]`.
struct FilmCursor {
    let keys: [SQLValue]

    init(_ keys: [SQLValue]) { self.keys = keys }

    private enum Key: Decodable {
        case number(Double)
        case text(String)

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            // Losing the error is right: anything else must be text, whose error counts.
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
        // Losing the error is right: every failure means an invalid cursor.
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
