import Films
import TestTraits
import Testing

@Suite("Suggestions", .bounded)
struct SuggestionsTests {
    @Test(
        "the distance counts insertions, deletions, substitutions and swaps",
        arguments: [
            ("", "", 0), ("a", "", 1), ("", "ab", 2), ("abc", "abc", 0), ("ab", "ba", 1),
            ("kitten", "sitting", 3),
            ("ca", "abc", 3), ("Häxan", "haxan", 0), ("prewram", "prewarm", 1), ("lost", "list", 1),
        ])
    func distance(first: String, second: String, distance: Int) {
        #expect(Suggestions.distance(first, second, atMost: 9) == distance)
        #expect(Suggestions.distance(second, first, atMost: 9) == distance)
    }

    @Test("a distance above the limit is nil")
    func limit() {
        #expect(Suggestions.distance("kitten", "sitting", atMost: 2) == nil)
        #expect(Suggestions.distance("a", String(repeating: "a", count: 1_000_000), atMost: 2) == nil)
    }

    @Test("the nearest word is first, and distant words are left out")
    func nearest() {
        let commands = ["list", "show", "fetch", "prewarm", "cache", "serve"]
        #expect(Suggestions.nearest(to: "shwo", among: commands) == ["show"])
        #expect(Suggestions.nearest(to: "lst", among: commands) == ["list"])
        #expect(Suggestions.nearest(to: "caché", among: commands) == ["cache"])
        #expect(Suggestions.nearest(to: "explode", among: commands) == [])
        #expect(Suggestions.nearest(to: "", among: commands) == [])
        #expect(Suggestions.nearest(to: "aab", among: ["aac", "aab", "bab"], count: 2) == ["aab", "aac"])
    }
}
