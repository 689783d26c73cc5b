package import MovieCatalogue

/// A film in a library.
package struct StoredFilm: Sendable, Hashable {
    /// The location of the poster.
    package enum Poster: Sendable, Hashable {
        case none
        /// Elsewhere: the URL in the document's member `poster`.
        case address(String)
        /// In the library; `tag` changes with the bytes.
        case stored(mediaType: String, count: Int, tag: String)
    }

    package let id: String
    /// The film as written, without the members in `FilmLibrary.ownMembers`.
    package var document: FilmDocument {
        // Losing the error is right: the library reads only rows whose text is a JSON object.
        (try? FilmDocument(json: json, allowsDuplicates: true)) ?? FilmDocument()
    }
    /// The text of the document: a service copies it to responses unparsed.
    package let json: JSONText
    /// The mean of the votes; nil without votes.
    package let rating: Double?
    package let votes: Int
    /// RFC 3339, UTC, with milliseconds.
    package let createdAt: String
    package let updatedAt: String
    /// Changes with every change of the film, its votes and its poster, and never repeats.
    package let revision: Int
    package let poster: Poster

    /// The film as a catalogue's movie.
    /// - Parameter poster: the URL of a stored poster.
    package func movie(poster address: String? = nil) throws(CatalogueError) -> Movie {
        try completeDocument(poster: address).movie()
    }

    /// The document with the members that the library stores: `id` first; `rating`, `votes`, `created_at` and
    /// `updated_at` last. Without votes `rating` and `votes` are absent.
    /// - Parameter poster: the URL of a stored poster.
    package func completeDocument(poster address: String? = nil) -> FilmDocument {
        var whole = document
        whole.putFirst("id", JSONText(id))
        if let address, case .stored = poster { whole["poster"] = JSONText(address) }
        if let rating, votes > 0 {
            whole["rating"] = JSONText(rating)
            whole["votes"] = JSONText(votes)
        }
        whole["created_at"] = JSONText(createdAt)
        whole["updated_at"] = JSONText(updatedAt)
        return whole
    }
}

/// A poster to store, or a copy of a stored one.
package struct PosterBytes: Sendable, Hashable {
    package let mediaType: String
    package let bytes: [UInt8]

    package init(mediaType: String, bytes: [UInt8]) {
        self.mediaType = mediaType
        self.bytes = bytes
    }
}

/// A stored poster.
package struct StoredPoster: Sendable, Hashable {
    package let mediaType: String
    package let bytes: [UInt8]
    /// Changes with the bytes.
    package let tag: String
}

/// How writing a document changes the film's poster.
package enum PosterChange: Sendable, Hashable {
    /// Removes a stored poster; the document's member `poster` is the new one's URL, if present.
    case asDocument
    /// Keeps a stored poster, unless the document has a URL.
    case keep
    /// Stores these bytes and ignores the document's member `poster`.
    case store(PosterBytes)
}
