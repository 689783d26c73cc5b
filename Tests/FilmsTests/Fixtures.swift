@testable import Films

/// One catalogue in JSON and in XML, with accents, escapes, layout and unknown fields as in real documents.
enum Fixtures {
    static let json = """
        {
          "name": "Silents & Co",
          "edition": {"number": 3, "notes": [null, true, -1.5e2]},
          "movies": [
            {"id": "nosferatu", "title": "Nosferatu", "originalTitle": "Nosferatu, eine Symphonie des Grauens",
             "year": 1922, "director": "F. W. Murnau", "country": "Germany", "minutes": 94,
             "genres": ["Horror", "Fantasy"], "overview": "A clerk \\"travels\\" east.", "score": 8.1,
             "poster": "posters/nosferatu.jpg", "colour": false},
            {"id": "chien", "title": "Un Chien Andalou", "year": 1929, "director": "Luis Bu\\u00f1uel",
             "minutes": null, "score": 7}
          ]
        }
        """

    static let xml = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!-- the same films -->
        <catalogue name="Silents &amp; Co">
          <edition number='3'/>
          <movie id="nosferatu">
            <title>Nosferatu</title>
            <originalTitle>Nosferatu, eine Symphonie
              des Grauens</originalTitle>
            <year> 1922 </year><director>F. W. Murnau</director><country>Germany</country><minutes>94</minutes>
            <genres><genre>Horror</genre><genre>Fantasy</genre></genres>
            <overview><![CDATA[A clerk "travels" east.]]></overview>
            <score>8.1</score><poster>posters/nosferatu.jpg</poster>
          </movie>
          <movie id="chien">
            <title>Un Chien Andalou</title><year>1929</year><director>Luis Bu&#xF1;uel</director>
            <minutes></minutes><score>7</score>
          </movie>
        </catalogue>
        """

    static let movies = [
        Movie(
            id: "nosferatu", title: "Nosferatu", originalTitle: "Nosferatu, eine Symphonie des Grauens",
            year: 1922,
            director: "F. W. Murnau", country: "Germany", minutes: 94, genres: ["Horror", "Fantasy"],
            overview: "A clerk \"travels\" east.", score: 8.1, poster: "posters/nosferatu.jpg"),
        Movie(id: "chien", title: "Un Chien Andalou", year: 1929, director: "Luis Buñuel", score: 7),
    ]
}

/// A catalogue of films with only the given titles.
func catalogue(_ titles: [String], original: [String: String] = [:]) -> Catalogue {
    Catalogue(
        name: nil,
        movies: titles.enumerated().map { index, title in
            Movie(
                id: "id\(index)", title: title, originalTitle: original[title], year: 1920,
                director: "Somebody")
        })
}

/// The error that `body` throws, or nil.
func thrown(by body: () throws(CatalogueError) -> Void) -> CatalogueError? {
    do {
        try body()
        return nil
    } catch {
        return error
    }
}

func readError(_ text: String) -> CatalogueError? {
    thrown { () throws(CatalogueError) in _ = try Catalogue(parsing: Array(text.utf8)) }
}
