package import MovieCatalogue

/// A film as a library has it.
package struct StoredFilm: Sendable, Hashable {
    /// Where its poster is.
    package enum Poster: Sendable, Hashable {
        case none
        /// Elsewhere: the address is the document's member `poster`.
        case address(String)
        /// In the library; `tag` changes with the bytes.
        case stored(mediaType: String, count: Int, tag: String)
    }

    package let id: String
    /// The film as it was written, without what the library keeps itself: `FilmLibrary.ownMembers`.
    package var document: FilmDocument {
        // The library reads no row whose text is anything but an object.
        (try? FilmDocument(json: json, takesRepeated: true)) ?? FilmDocument()
    }
    /// The text of the document: a service joins it to others without looking into it.
    package let json: JSONText
    /// The mean of the votes; nil without votes.
    package let rating: Double?
    package let votes: Int
    /// RFC 3339, UTC, with milliseconds.
    package let createdAt: String
    package let updatedAt: String
    /// Changes with every change of the film, its votes and its poster, and never comes back.
    package let revision: Int
    package let poster: Poster

    /// The film as a catalogue lists it.
    /// - Parameter poster: the address of a poster that is stored.
    package func movie(poster address: String? = nil) throws(CatalogueError) -> Movie {
        try whole(poster: address).movie()
    }

    /// The document with the members that the library keeps: `id` comes first, `rating`, `votes`, `created_at` and
    /// `updated_at` last. Without votes there are the latter two only.
    /// - Parameter poster: the address of a poster that is stored.
    package func whole(poster address: String? = nil) -> FilmDocument {
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

/// The bytes of a poster, on their way into a library or out of it.
package struct PosterBytes: Sendable, Hashable {
    package let mediaType: String
    package let bytes: [UInt8]

    package init(mediaType: String, bytes: [UInt8]) {
        self.mediaType = mediaType
        self.bytes = bytes
    }
}

/// A poster of a library.
package struct StoredPoster: Sendable, Hashable {
    package let mediaType: String
    package let bytes: [UInt8]
    /// Changes with the bytes.
    package let tag: String
}

/// What becomes of a film's poster when its document is written.
package enum PosterChange: Sendable, Hashable {
    /// A stored poster goes; the document's member `poster` is the address of the new one, if there is one.
    case asDocument
    /// A stored poster stays, unless the document has an address in its place.
    case keep
    /// These bytes are stored. The document's member `poster` is left out.
    case store(PosterBytes)
}
