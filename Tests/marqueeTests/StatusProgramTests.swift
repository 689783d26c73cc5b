import Foundation
import TestSupport
import TestTraits
import Testing

@Suite("marquee status", .bounded, .ownThread)
struct StatusProgramTests {
    @Test("prints the path once, as a line or as JSON")
    func once() async throws {
        let plain = try await Program.run(["status"])
        #expect(plain.status == 0)
        #expect(plain.lines.count == 1)
        let first = try #require(plain.lines.first?.split(separator: " ").first)
        let json = try await Program.run(["status", "--json"])
        #expect(json.text.hasPrefix("{") && json.text.contains("\"reach\":\"\(first)\""))
    }

    @Test(
        "in a network namespace: one line per change, one after a burst, none without a difference",
        .enabled(if: NetworkNamespace.isPossible, "\(NetworkNamespace.requirement)"))
    func changes() async throws {
        let namespace = try NetworkNamespace()
        // Whoever runs the tests is root there, and root's own home folder may be unreadable.
        let home = try TemporaryFolder()
        let watch = try Program(
            namespace.arguments(
                #""$MARQUEE" status --watch & watch=$!; trap 'kill $watch' TERM; wait $watch"#),
            of: "/usr/bin/unshare",
            environment: ["MARQUEE": BuiltProgram.path("marquee"), "HOME": home.path])
        #expect(await watch.nextLine() == "none")
        // Each step is one change. An unexpected line would be read in place of the next one.
        try namespace.run("pair 7")
        try namespace.run("ip addr add 192.0.2.2/24 dev eth7")
        #expect(await watch.nextLine() == "local over wired (eth7)")
        try namespace.run("ip route add default via 192.0.2.1")
        #expect(await watch.nextLine() == "internet over wired (eth7)")
        // A burst that ends where it began, and one visible change.
        try namespace.run(
            "for i in $(seq 100); do echo route add 198.51.100.$i dev eth7; "
                + "echo route del 198.51.100.$i dev eth7; done | ip -batch -")
        try namespace.run("ip route del default")
        #expect(await watch.nextLine() == "local over wired (eth7)")
        // A burst of visible changes: only its end is printed.
        try namespace.run(
            "for i in 1 2 3; do ip link set eth7 down; ip link set eth7 up; done; ip link del eth7")
        #expect(await watch.nextLine() == "none")
        // IPv6 alone is the internet, too.
        try namespace.run("pair 9")
        try namespace.run("ip -6 addr add 2001:db8:1::2/64 dev eth9 nodad")
        try namespace.run("ip -6 route add default via 2001:db8:1::1")
        var line = await watch.nextLine()
        // If the three commands took longer than the monitor waits.
        if line == "local over wired (eth9)" { line = await watch.nextLine() }
        #expect(line == "internet over wired (eth9)")
        await watch.end(SIGTERM)
    }
}
