import FoundationEssentials
import ImageCodecs
import TestTraits
import Testing

@testable import LazyImages

@Suite("ImageRequest", .bounded)
struct ImageRequestTests {
    @Test("a user and a password in the URL become an Authorization field, and are in neither URL nor key")
    func credentials() throws {
        let request = ImageRequest("https://me:se%40cret@example.org/a%2Fb.jpg?c=%20d")
        #expect(request.url.absoluteString == "https://example.org/a%2Fb.jpg?c=%20d")
        #expect(request.fields["Authorization"] == "Basic bWU6c2VAY3JldA==")
        #expect(!request.key.text.contains("me:") && !request.key.text.contains("bWU6"))
        #expect(request.key != (ImageRequest("https://example.org/a%2Fb.jpg?c=%20d")).key)
    }

    @Test("a user without a password has an empty password")
    func nameOnly() throws {
        #expect(ImageRequest("https://me@example.org/a").fields["authorization"] == "Basic bWU6")
    }

    @Test("the caller's own Authorization field stays")
    func ownAuthorization() throws {
        let request = ImageRequest(
            "https://me:secret@example.org/a", options: .init(fields: ["authorization": "Bearer x"]))
        #expect(request.fields.values(of: "Authorization") == ["Bearer x"])
        #expect(request.url.absoluteString == "https://example.org/a")
    }

    @Test("different headers, URLs and variants have different keys")
    func keys() throws {
        let url = try URL(typed: "https://example.org/a")
        let plain = ImageRequest(url)
        let keyed = ImageRequest(url, options: .init(fields: ["Authorization": "x"]))
        let other = ImageRequest(url, options: .init(fields: ["Authorization": "y"]))
        let variant = ImageRequest(url, options: .init(variant: "w342"))
        #expect(Set([plain.key, keyed.key, other.key, variant.key]).count == 4)
        #expect(variant.transferKey == plain.transferKey)
        #expect(Set([plain.transferKey, keyed.transferKey, other.transferKey]).count == 3)
    }

    @Test("each initialiser takes every option")
    func options() throws {
        let text = "https://example.org/a?id=1&session=2"
        let size = ImageSize(width: 30, height: 40)
        let options = ImageRequest.Options(
            fields: ["Accept-Language": "de"], checksum: "AB",
            variant: "w342", ignoredQuery: IgnoredQuery(["session"]))
        for request in [
            ImageRequest(
                url: try URL(typed: text), targetSize: size, priority: .high, cachePolicy: .cacheOnly,
                options: options),
            ImageRequest(
                try URL(typed: text), targetSize: size, priority: .high, cachePolicy: .cacheOnly,
                options: options),
            ImageRequest(
                text, targetSize: size, priority: .high, cachePolicy: .cacheOnly, options: options),
        ] {
            #expect(request.url.absoluteString == text && request.targetSize == size)
            #expect(request.priority == .high && request.cachePolicy == .cacheOnly)
            #expect(request.fields["accept-language"] == "de" && request.checksum == "ab")
            #expect(request.key.text == "https://example.org/a?id=1\nvariant w342")
            let fields = "https://example.org/a?id=1\nheader accept-language sha256:"
            #expect(request.resultKey.text.hasPrefix(fields))
            var later = ImageRequest(
                request.url,
                options: .init(
                    fields: request.fields, checksum: "ab", variant: "w342",
                    ignoredQuery: IgnoredQuery(["session"])))
            #expect(later.targetSize == nil && later.priority == .normal)
            #expect(later.cachePolicy == .useProtocol)
            #expect(later != request && later.key == request.key)
            #expect(later.resultKey.text.hasPrefix(fields) && later.resultKey != request.resultKey)
            later.targetSize = size
            #expect(later.resultKey == request.resultKey)
            later.priority = .high
            later.cachePolicy = .cacheOnly
            #expect(later == request)
        }
    }

    @Test("a size and a content mode make an image of their own, from the same file")
    func contentMode() throws {
        let size = ImageSize(width: 30, height: 40)
        let modes = [ImageContentMode.fit] + ImageContentMode.Anchor.allCases.map { .fill($0) }
        let requests = modes.map {
            ImageRequest("https://example.org/a", targetSize: size, contentMode: $0)
        }
        #expect(Set(requests.map(\.resultKey)).count == modes.count && Set(requests).count == modes.count)
        #expect(Set(requests.map(LoadKey.init)).count == modes.count)
        #expect(Set(requests.map(\.key)).count == 1)
        for (request, mode) in zip(requests, modes) {
            var later = ImageRequest("https://example.org/a")
            later.contentMode = mode
            #expect(later.resultKey == later.key, "without a size the content mode has no effect")
            later.targetSize = size
            #expect(later == request && later.contentMode == mode)
            later.contentMode = .fit
            #expect(later == requests[0])
        }
    }

    @Test("a checksum is accepted in either case; without a checksum any bytes are accepted")
    func checksum() throws {
        let url = try #require(URL(string: "https://example.org/a"))
        let file = LoadedFile(bytes: ImageBytes([1, 2, 3]), header: nil, url: url)
        let sum = "039058c6f2c0cb492c533b0a4d14ef77cc0f78abccced5287d84a1a2011cfb81"
        #expect(
            ImageRequest("https://example.org/a", options: .init(checksum: sum.uppercased())).accepts(
                file.content))
        #expect(ImageRequest("https://example.org/a").accepts(file.content))
        let wrong = ImageRequest("https://example.org/a", options: .init(checksum: "00"))
        #expect(!wrong.accepts(file.content))
        let error = ImageLoadingError.checksumMismatch(
            url: "https://example.org/a", expected: "00", found: sum)
        #expect(throws: error) { try wrong.check(file.content) }
    }
}
