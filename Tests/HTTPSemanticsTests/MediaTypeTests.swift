import HTTPSemantics
import TestTraits
import Testing

@Suite("MediaType", .bounded)
struct MediaTypeTests {
    @Test(
        "a name's extension decides the media type",
        arguments: [
            ("a.jpg", "image/jpeg"), ("A.JPEG", "image/jpeg"), ("a.b.png", "image/png"),
            ("a.svg", "image/svg+xml"),
            ("movies.json", "application/json"), ("movies.xml", "application/xml"),
            ("jpg", "application/octet-stream"),
            ("a.", "application/octet-stream"), ("a.exe", "application/octet-stream"),
        ])
    func mediaTypes(name: String, type: String) {
        #expect(MediaType.of(Array(name.utf8)) == type)
    }
}
