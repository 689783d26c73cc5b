import SystemSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("The loads, prefetches and releases of a scrolling list", .bounded)
struct ScrollWindowTests {
    @Test("loading", arguments: loading)
    func load(scenario: ScrollScenario) { check(scenario) }

    @Test("scrolling", arguments: scrolling)
    func scroll(scenario: ScrollScenario) { check(scenario) }

    @Test("sharing", arguments: sharing)
    func share(scenario: ScrollScenario) { check(scenario) }

    @Test("failures", arguments: failures)
    func fail(scenario: ScrollScenario) { check(scenario) }

    @Test("memory", arguments: memory)
    func memoryRunsShort(scenario: ScrollScenario) { check(scenario) }

    @Test("another list", arguments: anotherList)
    func replace(scenario: ScrollScenario) { check(scenario) }

    @Test("an event costs as much in a list of ten thousand rows as in one of fifty")
    func cost() {
        // Not equal: how often a table rehashes its keys depends on its seed, which depends on its address.
        #expect(lookups(inListOf: 10_000) < 2 * lookups(inListOf: 50))
    }

    /// Counts the hashed keys while the list scrolls through its first rows, one at a time, and comes to
    /// rest.
    private func lookups(inListOf count: Int) -> Int {
        let lookups = LookupCount()
        var window = ScrollWindow<CountedKey>()
        let rows = (0..<count).map { CountedKey(number: $0, lookups: lookups) }
        _ = window.handle(.replacing(rows, visible: 0..<0), at: .zero) { _ in false }
        _ = window.handle(.scrolling(.dragging), at: .zero) { _ in false }
        for top in 0..<20 { _ = window.handle(.showed(top..<top + 10), at: .zero) { $0 % 2 == 0 } }
        _ = window.handle(.scrolling(.idle), at: .zero) { _ in false }
        for row in 19..<29 { _ = window.handle(.loaded(rows[row]), at: .zero) { _ in false } }
        _ = window.handle(.memoryWarning, at: .zero) { _ in false }
        return lookups.count.withLock { $0 }
    }

    private final class LookupCount: Sendable {
        let count = Lock(0)
    }

    private struct CountedKey: Hashable {
        let number: Int
        let lookups: LookupCount

        static func == (one: Self, other: Self) -> Bool { one.number == other.number }

        func hash(into hasher: inout Hasher) {
            lookups.count.withLock { $0 += 1 }
            hasher.combine(number)
        }
    }

    private func check(_ scenario: ScrollScenario) {
        for (number, (step, actions)) in zip(scenario.steps, scenario.play()).enumerated() {
            #expect(actions == step.expected, "step \(number) of \(scenario.testDescription)")
        }
    }

    private static let loading = [
        ScrollScenario(
            "visible rows load from the middle outwards, then the page ahead is prefetched, nearest first",
            rows: "abcdefghijkl",
            [
                .show(
                    0..<5,
                    "load c, load b, load d, load a, load e, prefetch f, prefetch g, prefetch h, prefetch i, prefetch j"
                )
            ]),
        ScrollScenario(
            "visible rows load from the focus outwards, the upper of two first", rows: "abcde",
            [.show(0..<5, focus: 3, "load d first, load c, load e, load b, load a")]),
        ScrollScenario(
            "a focus that moves among the loads goes before those that wait", rows: "abc",
            [
                .show(0..<3, focus: 0, "load a first, load b, load c"),
                .show(0..<3, focus: 2, "first c, raise a"),
                .loaded("c", "pin c"), .show(0..<3, focus: 1, "first b"),
            ]),
        ScrollScenario(
            "a focus that is not visible is ignored", rows: "abcde",
            [.show(0..<3, focus: 4, "load b, load a, load c, prefetch d, prefetch e")]),
        ScrollScenario(
            "with an even number of rows the upper middle row loads first", rows: "abcd",
            [.show(0..<4, "load b, load c, load a, load d")]),
        ScrollScenario(
            "the page ahead ends with the list", rows: "abc",
            [.show(0..<2, "load a, load b, prefetch c")]),
        ScrollScenario(
            "rows outside the list are ignored", rows: "ab",
            [.show(-3..<9, "load a, load b"), .show(5..<9, "cancel a, cancel b")]),
        ScrollScenario(
            "a row without an image loads nothing", rows: "-a-",
            [.show(0..<3, "load a")]),
        ScrollScenario("an empty list does nothing", rows: "", [.show(0..<4, ""), .drag(""), .rest("")]),
        ScrollScenario(
            "a loaded image is not loaded again, and a running load is not repeated", rows: "ab",
            [.show(0..<2, "load a, load b"), .loaded("a", "pin a"), .show(0..<2, ""), .drag(""), .rest("")]),
        ScrollScenario(
            "the image of a cancelled load causes no action", rows: "abcd",
            [
                .show(0..<1, "load a, prefetch b"), .show(3..<4, "cancel a, cancel b, load d"),
                .loaded("a", ""),
            ]),
    ]

    private static let scrolling = [
        ScrollScenario(
            "while the list is dragged nothing starts, and at rest all visible rows load", rows: "abcdef",
            [.drag(""), .show(0..<2, ""), .show(1..<3, ""), .rest("load b, load c, prefetch d, prefetch e")]),
        ScrollScenario(
            "while it decelerates nothing starts either", rows: "abcdef",
            [
                .drag(""), .show(1..<3, ""), .glide(""), .show(2..<4, ""),
                .rest("load c, load d, prefetch e, prefetch f"),
            ]),
        ScrollScenario(
            "images in memory show at once, also while the list moves", rows: "abcdef", memory: "bf",
            [
                .drag(""), .show(0..<3, "show b, pin b"),
                .show(2..<5, "unpin b, let go b"),
                .show(3..<6, "show f, pin f"), .rest("load e, load d"),
            ]),
        ScrollScenario(
            "the loads of rows that leave the screen are cancelled", rows: "abcdefgh",
            [
                .show(0..<2, "load a, load b, prefetch c, prefetch d"), .drag(""),
                .show(1..<3, "cancel a, raise c"), .show(5..<7, "cancel b, cancel c, cancel d"),
                .rest("load f, load g, prefetch h"),
            ]),
        ScrollScenario(
            "a prefetch continues while its row is ahead, and none starts while the list moves",
            rows: "abcdefgh",
            [
                .show(0..<3, "load b, load a, load c, prefetch d, prefetch e, prefetch f"), .drag(""),
                .show(1..<4, "cancel a, raise d"), .rest("prefetch g"),
            ]),
        ScrollScenario(
            "the page ahead is above the screen when the list scrolls upwards", rows: "abcdefgh",
            [
                .show(4..<6, "load e, load f, prefetch g, prefetch h"),
                .show(3..<5, "cancel f, cancel g, cancel h, load d, prefetch c, prefetch b"),
            ]),
        ScrollScenario(
            "rows that a smaller screen loses become the page ahead", rows: "abcd",
            [.show(0..<4, "load b, load c, load a, load d"), .show(0..<2, "lower c, lower d")]),
        ScrollScenario(
            "a prefetched image shows without another load when its row becomes visible", rows: "abcd",
            [
                .show(0..<1, "load a, prefetch b"), .loaded("b", ""),
                .drag(""), .show(1..<2, "cancel a, pin b"), .rest("prefetch c"),
            ]),
        ScrollScenario(
            "an image of the page ahead that is in memory is held, not prefetched", rows: "abc", memory: "b",
            [.show(0..<1, "show b, load a"), .show(1..<2, "cancel a, pin b, prefetch c")]),
    ]

    private static let sharing = [
        ScrollScenario(
            "rows with the same image share one load", rows: "aabaab",
            [.show(0..<3, "load a, load b")]),
        ScrollScenario(
            "a row that leaves keeps its load while another visible row shares it", rows: "abca",
            [
                .show(0..<2, "load a, load b, prefetch c"), .show(2..<4, "cancel b, raise c"),
                .show(1..<2, "cancel c, load b, lower a"),
            ]),
        ScrollScenario(
            "a shared image is held until the last of its rows leaves", rows: "aabc",
            [
                .show(0..<1, "load a"), .loaded("a", "pin a"), .show(1..<2, "prefetch b"),
                .show(2..<3, "unpin a, let go a, raise b, prefetch c"),
            ]),
    ]

    private static let failures = [
        ScrollScenario(
            "a failed row is not loaded again until a retry", rows: "ab",
            [
                .show(0..<2, "load a, load b"), .failed("a", ""), .drag(""), .rest(""), .wait(100),
                .show(0..<2, ""),
                .retry("a", "load a"),
            ]),
        ScrollScenario(
            "a retry waits for the list to rest", rows: "a",
            [.show(0..<1, "load a"), .failed("a", ""), .drag(""), .retry("a", ""), .rest("load a")]),
        ScrollScenario(
            "a retry of an image that has not failed does nothing", rows: "ab",
            [.show(0..<1, "load a, prefetch b"), .retry("a", ""), .retry("b", ""), .retry("z", "")]),
        ScrollScenario(
            "all failed rows are retried, invisible ones when they come back", rows: "abcdef",
            [
                .show(0..<1, "load a, prefetch b"), .failed("a", ""), .show(5..<6, "cancel b, load f"),
                .failed("f", ""), .retryAll("load f"), .show(0..<1, "cancel f, load a"),
            ]),
        ScrollScenario(
            "a row that comes back early still shows its failure", rows: "abcdef",
            [
                .show(0..<1, "load a, prefetch b"), .failed("a", ""), .show(5..<6, "cancel b, load f"),
                .wait(29),
                .show(0..<1, "cancel f"),
            ]),
        ScrollScenario(
            "a row that comes back after the pause is retried", rows: "abcdef",
            [
                .show(0..<1, "load a, prefetch b"), .failed("a", ""), .show(5..<6, "cancel b, load f"),
                .wait(30),
                .show(0..<1, "cancel f, load a"),
            ]),
        ScrollScenario(
            "a row that comes back while the list moves is retried at rest", rows: "abcdef",
            [
                .show(0..<1, "load a, prefetch b"), .failed("a", ""), .drag(""), .show(5..<6, "cancel b"),
                .wait(30),
                .show(0..<1, ""), .rest("load a"),
            ]),
        ScrollScenario(
            "a failed prefetch is not repeated, and is forgotten when its row becomes visible", rows: "ab",
            [
                .show(0..<1, "load a, prefetch b"), .failed("b", ""), .drag(""), .rest(""),
                .show(1..<2, "cancel a, load b"),
            ]),
    ]

    private static let memory = [
        ScrollScenario(
            "a memory warning cancels prefetches and releases invisible images", rows: "abcd",
            [
                .show(0..<2, "load a, load b, prefetch c, prefetch d"), .loaded("a", "pin a"),
                .loaded("c", ""),
                .warning("let go c, cancel d"), .loaded("b", "pin b"),
            ]),
        ScrollScenario(
            "a memory warning does not affect images that a visible row shares", rows: "aba",
            [.show(0..<2, "load a, load b"), .warning(""), .loaded("a", "pin a")]),
        ScrollScenario(
            "nothing is prefetched for a minute after a memory warning", rows: "abcdefgh",
            [
                .warning(""), .show(0..<2, "load a, load b"), .wait(59), .show(1..<3, "cancel a, load c"),
                .wait(1),
                .show(2..<4, "cancel b, load d, prefetch e, prefetch f"),
            ]),
        ScrollScenario(
            "another warning starts the minute again", rows: "abcd",
            [
                .warning(""), .wait(40), .warning(""), .wait(40), .show(0..<1, "load a"), .wait(20),
                .rest("prefetch b"),
            ]),
    ]

    private static let anotherList = [
        ScrollScenario(
            "the loads and images that both lists share stay", rows: "abcd",
            [
                .show(0..<2, "load a, load b, prefetch c, prefetch d"), .loaded("b", "pin b"),
                .replace("bxa", 0..<2, "cancel c, cancel d, load x, lower a"),
            ]),
        ScrollScenario(
            "a shorter list shows no removed rows", rows: "abcd",
            [
                .show(2..<4, "load c, load d"), .replace("a", 2..<4, "cancel c, cancel d"),
                .show(0..<1, "load a"),
            ]),
        ScrollScenario(
            "a list that is replaced while it moves loads at rest", rows: "ab",
            [.drag(""), .replace("xyz", 0..<2, ""), .rest("load x, load y, prefetch z")]),
    ]
}
