import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("ClaimFile", .bounded)
struct ClaimFileTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// The claims of a process of its own, as far as the file can tell.
    private func claims() throws -> ClaimFile {
        let calls = FileCalls()
        return try ClaimFile(in: calls.openFolder(fixture.folder.path), calls: calls)
    }

    @Test("a claim ends with the file that was opened for it, as it does with its process")
    func closing() throws {
        let other = try claims()
        do {
            let one = try claims()
            #expect(one.take(key("a")) == .taken)
            #expect(other.take(key("a")) == .elsewhere)
        }
        #expect(other.take(key("a")) == .taken)
    }

    @Test("noting a fetch's end changes the mark for all, and names the key")
    func marks() throws {
        let (one, other) = (try claims(), try claims())
        let before = other.mark(of: key("a"))
        one.recordEnd(of: key("a"))
        let mark = other.mark(of: key("a"))
        #expect(mark != before && mark.isOf(key("a")) && !mark.isOf(key("b")))
    }

    @Test("two thousand claims fit, and ten thousand ends leave a file of 64 KiB")
    func many() throws {
        let (one, other) = (try claims(), try claims())
        let keys = (0..<2000).map { key("\($0)") }
        for key in keys { #expect(one.take(key) == .taken) }
        #expect(other.take(keys[1999]) == .elsewhere)
        for key in keys { one.release(key) }
        #expect(other.take(keys[1999]) == .taken)
        for number in 0..<10_000 { one.recordEnd(of: key("\(number)")) }
        #expect(fixture.size(fixture.folder.file("claims")) == 65_536)
    }
}
