import TestTraits
import Testing

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

    private func check(_ scenario: ScrollScenario) {
        for (number, (step, actions)) in zip(scenario.steps, scenario.play()).enumerated() {
            #expect(actions == step.expected, "step \(number) of \(scenario.testDescription)")
        }
    }

    private static let loading = [
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
    ]

    private static let scrolling = [
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
            "a row that comes back after the pause is retried", rows: "abcdef",
            [
                .show(0..<1, "load a, prefetch b"), .failed("a", ""), .show(5..<6, "cancel b, load f"),
                .wait(30),
                .show(0..<1, "cancel f, load a"),
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
