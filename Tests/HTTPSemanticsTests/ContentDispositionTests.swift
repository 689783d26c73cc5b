import HTTPSemantics
import TestTraits
import Testing

@Suite("Content-Disposition", .bounded)
struct ContentDispositionTests {
    @Test(
        "any title is one name of a file, in ASCII and as it is",
        arguments: [
            ("Nosferatu", "inline; filename=\"Nosferatu.jpg\""),
            (
                "Das Wörterbuch",
                "inline; filename=\"Das W_rterbuch.jpg\"; filename*=UTF-8''Das%20W%C3%B6rterbuch.jpg"
            ),
            ("../../etc/\"passwd\"\r\nSet-Cookie: a", "inline; filename=\"etc passwd Set-Cookie a.jpg\""),
            ("AC/DC: \\Live?\u{202E}*", "inline; filename=\"AC DC Live.jpg\""),
            ("...", "inline; filename=\"film.jpg\""),
            ("", "inline; filename=\"film.jpg\""),
            (
                String(repeating: "a", count: 300),
                "inline; filename=\"\(String(repeating: "a", count: 180)).jpg\""
            ),
        ])
    func names(title: String, field: String) {
        #expect(ContentDisposition.inline(title, ending: "jpg") == field)
    }
}
