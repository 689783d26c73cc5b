package import Films
package import FoundationEssentials
package import HTTPSemantics
package import LazyImages

/// Where films come from, and what can be done with them. Each kind of source is one file or folder with a type that
/// conforms. Commands and the browser ask what a provider can do, and never which kind it is.
package protocol FilmProvider: Sendable {
    /// Its name for people. It has no credential.
    var name: String { get }

    /// What can be done with its films. Default: they are read, and nothing else.
    var abilities: FilmAbilities { get }

    /// The films' server, if it has an account of the user; nil for other sources.
    var server: (any FilmServer)? { get }

    /// Reads the films, page by page.
    /// - Parameters:
    ///   - selection: the films that are needed. A provider that cannot select reads all.
    ///   - take: called with each page before the next one is requested.
    func readPages(_ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker)
        async throws

    /// The film with an id, without reading the others; nil if there is none, or if it cannot be asked for.
    func film(_ id: String, _ access: any FilmAccess) async throws -> FoundFilm?

    /// A film with what only its own page has; nil if its list has everything.
    func complete(_ film: Movie, _ access: any FilmAccess) async throws -> Movie?

    /// The network, with the provider's own posters in it.
    func network(_ network: any Transport) -> any Transport

    /// The base URL of the addresses in a file of the provider's.
    func base(ofFile path: String) -> BaseURL
}

extension FilmProvider {
    package var abilities: FilmAbilities { FilmAbilities() }
    package var server: (any FilmServer)? { nil }
    package func film(_ id: String, _ access: any FilmAccess) async throws -> FoundFilm? { nil }
    package func complete(_ film: Movie, _ access: any FilmAccess) async throws -> Movie? { nil }
    package func network(_ network: any Transport) -> any Transport { network }
    package func base(ofFile path: String) -> BaseURL { BaseURL(URL(filePath: path)) }
}

/// What can be done with the films of a provider.
package struct FilmAbilities: Sendable {
    /// How films are changed.
    package enum Writing: Sendable {
        /// They are read-only; the text says what to do.
        case refused(String)
        case library(path: String)
        case service(URL)
    }

    /// What a service hands out.
    package enum Serving: Sendable {
        case folder(path: String)
        case library(path: String)
        case catalogue(path: String)
        /// A copy, which is read again from time to time.
        case copy
        /// The program's own sample, which is unpacked meanwhile.
        case sample
        /// Nothing; the text says what to do.
        case refused(String)

        /// Nothing: films on the network are imported first.
        package static func afterImport(of name: String) -> Serving {
            .refused("\(name) is on the network; import it: marquee import \(name) LIBRARY.db")
        }
    }

    /// Nil for the usual text about a list that is read-only.
    package var writing: Writing?
    package var serving = Serving.copy
    /// Whether it has a search, so that only films with some words are read.
    package var searches = false
    /// Whether its films come over the network, and may keep a person waiting.
    package var isRemote = false
    /// Whether the films are too many to read all: then pages are read as they are wanted.
    package var isEndless = false
    /// What must stand beside its films; nil for nothing.
    package var attribution: String?
    /// The file of the films; nil for other sources.
    package var file: String?
    /// Whether that file is a library. Its films have votes and stored posters, which an export has too.
    package var isLibrary = false
    /// The folder whose changes are noticed; nil for none.
    package var watchedFolder: String?
    /// What a prewarming job is given for the sample's posters: the sample's folder or name. Empty for other sources.
    package var sample = ""

    package init() {}

    /// Adds to the abilities.
    package func with(_ change: (inout FilmAbilities) -> Void) -> FilmAbilities {
        var abilities = self
        change(&abilities)
        return abilities
    }
}

/// The films that are needed of a provider. By default all.
package struct FilmSelection: Sendable {
    /// Only so many, the first in an order.
    package var first: (count: Int, order: Catalogue.Sort)?
    /// Only films with these words.
    package var words: String?
    /// The pages that are read of an endless list.
    package var pages = 0..<25
    /// The most bytes of a file.
    package var fileBytes = 64 << 20

    package init() {}
}

/// What a provider needs of the program: its network and its files, and a place for messages.
package protocol FilmAccess: Sendable {
    /// Whether only cached answers are used.
    var isOffline: Bool { get }

    /// The answer to a GET, with status 200. The server is asked whether a cached one is current.
    func answer(to url: URL, _ fields: HeaderFields) async throws -> FilmAnswer

    /// The answer to a request with a body, or one that changes something.
    func send(_ request: UploadRequest) async throws(ImageLoadingError) -> UploadResponse

    /// The content of a file, or of standard input.
    func contents(ofFile path: String, limit: Int) async throws -> [UInt8]

    /// Why a server has refused a request, with advice about the user's credential for it.
    func refusal(by server: URL) -> FilmFault

    /// Tells the person something that is no fault.
    func notice(_ text: String)
}

/// The answer to a request.
package struct FilmAnswer: Sendable {
    package let bytes: [UInt8]
    /// The base URL of the addresses in it.
    package let base: BaseURL
    /// When the server last confirmed it, in seconds since 1970; nil if that is unknown.
    package let confirmed: Int?
    /// The next page, as its header names it (RFC 8288).
    package let next: String?

    package init(_ bytes: [UInt8], base: BaseURL, confirmed: Int? = nil, next: String? = nil) {
        (self.bytes, self.base, self.confirmed, self.next) = (bytes, base, confirmed, next)
    }
}

/// Why a provider does not do what was asked, in one line that says what to do.
package struct FilmFault: Error, Sendable, Equatable, CustomStringConvertible {
    package let description: String
    /// A short, stable name for programs.
    package let code: String

    package init(_ description: String, code: String = "failure") {
        (self.description, self.code) = (description, code)
    }

    /// The name of a source is malformed.
    static func invalidName(_ description: String) -> FilmFault {
        FilmFault(description, code: "invalid-source")
    }
}

/// A provider that only says why there are no films.
package struct NoFilms: FilmProvider {
    package let name = "the catalogue"
    private let fault: FilmFault

    package init(_ fault: FilmFault) { self.fault = fault }

    package var abilities: FilmAbilities {
        FilmAbilities().with { $0.writing = .refused(fault.description) }
    }

    package func readPages(
        _ selection: FilmSelection, _ access: any FilmAccess, _ take: CataloguePage.Taker
    ) async throws {
        throw fault
    }
}
