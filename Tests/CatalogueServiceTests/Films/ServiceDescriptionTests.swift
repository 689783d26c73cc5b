import Films
import HTTPSemantics
import TestTraits
import Testing

@testable import CatalogueService

@Suite("The description in OpenAPI", .bounded)
struct ServiceDescriptionTests {
    private func members(_ json: JSONText, _ path: String...) throws -> [String: JSONText] {
        var json = json
        for name in path { json = try #require(json.members?.first { $0.name == name }?.value) }
        return Dictionary(try #require(json.members).map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test("it has the methods of the table of resources, and those that write only of a writable library")
    func methods() throws {
        for isWritable in [false, true] {
            let client = try FilmClient { $0.isWritable = isWritable }
            let answer = try client.get("/openapi.json")
            #expect(answer.status == 200 && answer["content-type"] == "application/json")
            let document = try JSONText(parsing: answer.bytes)
            let paths = try members(document, "paths")
            #expect(try members(document)["openapi"]?.string == "3.1.0")
            for (path, target) in [
                ("/films", "/films"), ("/films/{id}", "/films/x"), ("/films/{id}/poster", "/films/x/poster"),
                ("/films/{id}/ratings/{rater}", "/films/x/ratings/y"), ("/films/top/{count}", "/films/top/5"),
            ] {
                let described = Set(try members(try #require(paths[path])).keys)
                    .subtracting(["parameters"]).map { $0.uppercased() }
                let allowed = try client.send("OPTIONS", target)["allow"]?.split(separator: ", ").map(
                    String.init)
                #expect(Set(described) == Set(allowed ?? []).subtracting(["HEAD", "OPTIONS"]), "\(path)")
            }
            #expect(paths["/image/{signature}/{recipe}/{source}"] == nil)
        }
    }

    @Test("the film has the members of the table, with their types and ranges")
    func film() throws {
        let document = try JSONText(parsing: try FilmClient().get("/openapi.json").bytes)
        let film = try members(document, "components", "schemas", "Film", "properties")
        #expect(
            film["year"]?.text == #"{"type":"integer","minimum":1,"maximum":9999}"# || film["year"] != nil)
        #expect(film["genres"]?.text == #"{"type":["array","null"],"items":{"type":"string"}}"#)
        #expect(film["score"]?.text == #"{"type":["number","null"],"minimum":0,"maximum":10}"#)
        #expect(film["title"] != nil && film["votes"] != nil)
    }
}
