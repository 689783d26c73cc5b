import HTTPSemantics
import TestTraits
import Testing

@Suite("Patterns of hosts", .bounded)
struct HostPatternTests {
    @Test(
        "a host matches itself and the pattern of each of its domains of two labels or more",
        arguments: [
            ("a.b.example.org", ["a.b.example.org", "*.b.example.org", "*.example.org"]),
            ("www.example.org", ["www.example.org", "*.example.org"]),
            ("example.org", ["example.org"]), ("localhost", ["localhost"]),
            ("192.0.2.7", ["192.0.2.7"]), ("2001:db8::1", ["2001:db8::1"]),
            ("a..example.org", ["a..example.org"]), (".example.org", [".example.org"]), ("", [""]),
        ])
    func matching(host: String, patterns: [String]) {
        #expect(HostPattern.patterns(matching: host) == patterns)
    }

    @Test("a host longer than a name matches only itself")
    func long() {
        let host = String(repeating: "a.", count: 4000) + "example.org"
        #expect(HostPattern.patterns(matching: host) == [host])
    }

    @Test("an asterisk stands alone in front of a domain of two labels or more")
    func valid() {
        for host in ["example.org", "*.example.org", "*.a.b.example.org", "*.co.uk", "192.0.2.7"] {
            #expect(HostPattern.isValid(host), "\(host)")
        }
        for host in [
            "*", "*.", "*.org", "*.*.org", "a.*.org", "*a.example.org", "a*.example.org", "*.example.*",
            "**.example.org",
            "*example.org", "*..org", "*.example..org", "*.2.7", "*.192.0.2.7", "*.example.0x7f",
        ] {
            #expect(!HostPattern.isValid(host), "\(host)")
        }
    }
}
