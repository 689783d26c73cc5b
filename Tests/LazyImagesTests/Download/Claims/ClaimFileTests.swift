import Glibc
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("ClaimFile", .bounded)
struct ClaimFileTests {
    private let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// The claims of a process of its own, as far as the file can tell.
    private func claims(_ calls: FileCalls = FileCalls()) throws -> ClaimFile {
        try ClaimFile(in: calls.openFolder(fixture.folder.path), calls: calls)
    }

    @Test("one has a claim until it gives it up, and each key has its own")
    func exclusion() throws {
        let (one, other) = (try claims(), try claims())
        #expect(one.take(key("a")) == .taken)
        #expect(one.take(key("a")) == .ours)
        #expect(other.take(key("a")) == .elsewhere)
        #expect(other.take(key("b")) == .taken)
        one.release(key("a"))
        #expect(other.take(key("a")) == .taken)
        #expect(one.take(key("b")) == .elsewhere)
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

    @Test(
        "noting a fetch's end changes the mark for all and names the key; releasing a claim does neither")
    func marks() throws {
        let (one, other) = (try claims(), try claims())
        let before = other.mark(of: key("a"))
        #expect(!before.isOf(key("a")))
        #expect(one.take(key("a")) == .taken)
        one.release(key("a"))
        #expect(other.mark(of: key("a")) == before)
        one.recordEnd(of: key("a"))
        let first = other.mark(of: key("a"))
        #expect(first != before && first.isOf(key("a")))
        other.recordEnd(of: key("a"))
        #expect(one.mark(of: key("a")) != first)
        #expect(!other.mark(of: key("b")).isOf(key("b")))
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

    @Test("where there are no locks a claim is impossible, and no error")
    func impossible() throws {
        let plan = FaultPlan()
        let one = try claims(plan.calls)
        plan.fail(at: 0, isPersistent: true, of: .lock, .failure(ENOLCK))
        #expect(one.take(key("a")) == .impossible)
        plan.fail(at: 0, isPersistent: true, .failure(EIO))
        one.recordEnd(of: key("a"))
        #expect(!one.mark(of: key("a")).isOf(key("a")))
        plan.clear()
        #expect(one.take(key("a")) == .taken)
    }
}
