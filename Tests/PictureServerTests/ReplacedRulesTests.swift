import TestSupport
import TestTraits
import Testing

@testable import PictureServer
import PictureService

/// Keys and sizes change while a service runs.
@Suite("PictureServer: replaced rules", .bounded)
struct ReplacedRulesTests {
    private static let source = "https://anywhere.example/a"

    private func keys(_ byte: String) throws -> SigningKeys {
        try SigningKeys(Array(String(repeating: byte, count: 32).utf8))
    }

    private func path(_ recipe: String, signedBy keys: SigningKeys) throws -> String {
        PictureAddress(
            try PictureRecipe(recipe), of: try PictureSource(Self.source), signedBy: keys
        ).path
    }

    @Test("new keys count at once, and an address of an old key is refused, even one in memory")
    func keys() async throws {
        let (old, new) = (try keys("0a"), try keys("0b"))
        let client = try PictureClient(
            sources: [], configure: { $0.rules.keys = old },
            answering: PictureClient.giving(try Samples.jpeg()))
        let address = try path("w93", signedBy: old)
        #expect(try await client.send(address).status == 200)
        #expect(try await client.send(address).status == 200 && client.count(.memoryHit) == 1)
        #expect(client.service.replaceRules(by: try PictureRules(keys: new)) == ["keys"])
        #expect(try await client.send(address).status == 403)
        #expect(try await client.send(try path("w93", signedBy: new)).status == 200)
        #expect(client.service.replaceRules(by: try PictureRules(keys: new)).isEmpty)
        #expect(try await client.send(try path("w93", signedBy: new)).status == 200)
    }

    @Test("a service that gets its first keys serves any host that they sign")
    func firstKeys() async throws {
        let client = try PictureClient(sources: [], answering: PictureClient.giving(try Samples.jpeg()))
        let keys = try keys("0a")
        #expect(try await client.send(try path("w93", signedBy: keys)).status == 403)
        client.service.replaceRules(by: try PictureRules(keys: keys))
        #expect(try await client.send(try path("w93", signedBy: keys)).status == 200)
    }

    @Test("new sizes count at once; sources stay; a request in progress gets its picture")
    func sizes() async throws {
        let client = try PictureClient(sizes: ["w92"])
        let running = try client.start(PictureClient.path("w92"))
        let transfer = try await client.transport.transfer()
        let rules = try PictureRules(sources: [], sizes: ["w93"])
        #expect(client.service.replaceRules(by: rules) == ["sizes"])
        transfer.answer(try Samples.jpeg(), fields: ["Cache-Control": "max-age=60"])
        #expect(try await running.value().status == 200)
        #expect(try await client.get("w92").status == 403)
        #expect(try await client.get("w93").status == 200)
        // The old rules allowed the address that has just come from memory.
        #expect(client.service.replaceRules(by: try PictureRules(sizes: ["w92"])) == ["sizes"])
        #expect(try await client.get("w93").status == 403)
        #expect(try await client.get("w92").status == 200)
    }

    @Test("a file of sizes has a recipe on each line, and its error names the line")
    func file() throws {
        func sizes(_ text: String) throws(ListFile.Fault) -> [String] {
            try PictureRules.sizes(inFile: Array(text.utf8))
        }
        #expect(
            try sizes("# small\nw92\n\n  342x513.fill.q60 \r\n#w1\noriginal") == [
                "w92", "342x513.fill.q60", "original",
            ])
        for (text, line) in [("w92\nw", 2), ("#\n\nw92 w154", 3), ("w92,w154", 1), ("w92\n\0", 2)] {
            let fault = #expect(throws: ListFile.Fault.self) { try sizes(text) }
            #expect(fault?.description.hasPrefix("line \(line): not a recipe; write one") == true)
        }
        #expect(throws: ListFile.Fault.self) { try PictureRules.sizes(inFile: [0xFF]) }
        for text in ["", "# none\n\n"] {
            let fault = #expect(throws: ListFile.Fault.self) { try sizes(text) }
            #expect(fault?.description.hasPrefix("no size; write a recipe on a line") == true)
        }
    }
}
