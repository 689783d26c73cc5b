import TestTraits
import Testing

@testable import PictureServer
import PictureService

@Suite("Known request targets", .bounded)
struct KnownAddressTests {
    private let memory = KnownAddress.makeMemory()

    private func address() throws -> KnownAddress {
        let source = try PictureSource("https://images.example.org/a.jpg")
        return KnownAddress(try PictureRecipe("w92"), of: PictureOriginal(source))
    }

    private func known(_ target: String) -> KnownAddress? { memory.value(for: KnownAddress.key(target)) }

    @Test("a frequent target stays, however many others come")
    func staying() throws {
        let (wanted, other) = (try address(), try address())
        wanted.keep(in: memory, as: "/wanted")
        for number in 0..<20_000 {
            other.keep(in: memory, as: "/\(number)")
            if number % 1000 == 0 { #expect(known("/wanted") === wanted) }
        }
        #expect(known("/wanted") === wanted && known("/0") == nil && known("/19999") === other)
    }

    @Test("long targets are not kept")
    func long() throws {
        let target = "/" + String(repeating: "a", count: 1024)
        try address().keep(in: memory, as: target)
        #expect(known(target) == nil)
    }

    @Test("transfers are counted by host and port, and the service's own pictures have none")
    func hosts() throws {
        for (address, host) in [
            ("https://images.example/a", "images.example:443"),
            ("http://IMAGES.example:8080/a", "images.example:8080"),
        ] {
            #expect(PictureOriginal(try PictureSource(address)).host == host)
        }
        #expect(PictureOriginal(name: "a", tag: "1", cacheControl: "no-cache") { [] }.host.isEmpty)
    }
}
