import FoundationEssentials
import TestTraits
import Testing

@testable import FilmSources

@Suite("Addresses of film services", .bounded)
struct FilmsAddressTests {
    @Test(
        "the films' address follows from the catalogue's",
        arguments: [
            ("http://nas:8080", "http://nas:8080/films", true, false),
            ("http://nas:8080/", "http://nas:8080/films", true, false),
            ("http://nas/films", "http://nas/films", true, true),
            ("http://nas/films/", "http://nas/films", true, true),
            ("http://u:p@nas/films?sort=year#x", "http://u:p@nas/films", false, true),
            ("http://nas/films.json", "http://nas/films", false, true),
            ("http://nas/library/films/top3", "http://nas/library/films", false, true),
            ("http://nas/library/films/top/3?x=y", "http://nas/library/films", false, true),
            ("https://nas/library/", "https://nas/library/films", true, false),
        ])
    func found(text: String, films: String, isWhole: Bool, isNamed: Bool) throws {
        let url = try #require(URL(string: text))
        let address = try #require(FilmsAddress(catalogue: url))
        #expect(address.films.absoluteString == films)
        #expect(address.isWhole == isWhole && address.isNamed == isNamed)
    }

    @Test(
        "a SOAP address has the films beside it",
        arguments: [
            ("http://nas/soap", "http://nas/films", "http://nas/soap"),
            (
                "http://u:p@nas:1/library/soap?WSDL", "http://u:p@nas:1/library/films",
                "http://u:p@nas:1/library/soap"
            ),
        ])
    func soap(text: String, films: String, soap: String) throws {
        let url = try #require(URL(string: text))
        let address = try #require(FilmsAddress(catalogue: url))
        #expect(address.isSoap && !address.isWhole)
        #expect(address.films.absoluteString == films && address.soap.absoluteString == soap)
    }

    @Test(
        "another file is no service",
        arguments: ["http://nas/movies.json", "http://nas/a/b.xml", "http://nas/x", "http://nas/soap?x=y"])
    func none(text: String) throws {
        let url = try #require(URL(string: text))
        #expect(FilmsAddress(catalogue: url) == nil)
    }

    @Test("ids and names are percent-encoded in paths")
    func encoding() throws {
        let url = try #require(URL(string: "http://nas/"))
        let address = try #require(FilmsAddress(catalogue: url))
        #expect(address.film("El Camión?").absoluteString == "http://nas/films/El%20Cami%C3%B3n%3F")
        #expect(address.rating(of: "a", by: "b/c").absoluteString == "http://nas/films/a/ratings/b%2Fc")
    }
}
