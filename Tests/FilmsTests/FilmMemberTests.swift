import FoundationEssentials
import Testing
import TestTraits

@testable import Films

@Suite("FilmMember", .bounded)
struct FilmMemberTests {
    /// A film with this member, and as few others as possible.
    private func film(with member: FilmMember) throws -> FilmDocument {
        let value: JSONText =
            switch member.kind {
            case .whole: JSONText(1927)
            case .number: JSONText(8.5)
            case .texts: JSONText(elements: [JSONText("first"), JSONText("second")])
            case .required, .text, .paragraphs, .address: JSONText("a text")
            }
        var film = try FilmDocument(json: JSONText(parsing: Array(#"{"id":"an id","title":"a title"}"#.utf8)))
        // The mean of votes and their number need each other.
        if member == .rating { film["votes"] = JSONText(2) }
        if member == .votes { film["rating"] = JSONText(8) }
        film[member.name] = value
        return film
    }

    @Test("each case has the definition of its own property")
    func order() {
        let movie = Movie(
            id: "id", title: "title", originalTitle: "original", year: 1927, director: "director",
            country: "country", minutes: 90, genres: ["genre"], overview: "overview", score: 1,
            poster: "poster", media: "media", page: "page", rating: 2, votes: 3, createdAt: "created",
            updatedAt: "updated")
        let texts: [FilmMember: String] = [
            .id: "id", .title: "title", .originalTitle: "original", .year: "1927", .director: "director",
            .country: "country", .minutes: "90", .genres: "genre", .overview: "overview", .score: "1.0",
            .poster: "poster", .media: "media", .page: "page", .rating: "2.0", .votes: "3",
            .createdAt: "created", .updatedAt: "updated",
        ]
        for member in FilmMember.allCases {
            #expect(movie.text(member) == texts[member], "\(member.name)")
            #expect(FilmMember(named: member.name) == member)
        }
    }

    @Test("each member is read from JSON and from XML, and is encoded", arguments: FilmMember.allCases)
    func everyMember(member: FilmMember) throws {
        let film = try film(with: member)
        let json = try #require(try Catalogue(parsing: Array("[\(film.json())]".utf8)).movies.first)
        let xml = try #require(
            try Catalogue(parsing: Array("<catalogue>\(film.xml())</catalogue>".utf8)).movies.first)
        #expect(json == xml)
        #expect(try FilmDocument(xml: XMLElement(parsing: Array(film.xml().utf8))) == film)
        let encoded = try FilmDocument(json: JSONText(parsing: Array(JSONEncoder().encode(json))))
        #expect(try encoded.movie() == json)
        #expect(encoded[member.name]?.text == film[member.name]?.text)
        #expect(json[member] != nil)
    }

    @Test("each wrong value is an error, or is ignored", arguments: FilmMember.allCases)
    func wrongValues(member: FilmMember) throws {
        var film = try film(with: member)
        film[member.name] = JSONText(members: [])
        let problems = film.problems
        if member.definition.rule == .checked {
            #expect(problems.map(\.member) == [member.name])
        } else {
            #expect(problems.isEmpty)
            #expect(try film.movie()[member] == nil)
        }
    }
}
