import LazyImages
import TestTraits
import Testing

@testable import PictureService

@Suite("Known request targets", .bounded)
struct KnownAddressesTests {
    private func address() throws -> KnownAddress {
        let source = try PictureSource("https://images.example.org/a.jpg")
        return KnownAddress(try PictureRecipe("w92"), of: .address(source, isSigned: false))
    }

    @Test("a frequent target stays, however many others come")
    func staying() throws {
        let (known, wanted, other) = (KnownAddresses(), try address(), try address())
        known.note(wanted, "/wanted")
        for number in 0..<20_000 {
            known.note(other, "/\(number)")
            if number % 1000 == 0 { #expect(known["/wanted"] === wanted) }
        }
        #expect(known["/wanted"] === wanted && known["/0"] == nil && known["/19999"] === other)
    }

    @Test("long targets are not kept")
    func long() throws {
        let (known, target) = (KnownAddresses(), "/" + String(repeating: "a", count: 1024))
        known.note(try address(), target)
        #expect(known[target] == nil)
    }
}
