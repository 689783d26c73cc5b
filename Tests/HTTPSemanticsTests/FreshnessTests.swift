import HTTPSemantics
import TestTraits
import Testing

@Suite("Freshness, RFC 9111 section 4.2", .bounded)
struct FreshnessTests {
    private let now = 1_767_225_600

    @Test("section 4.2.1: max-age goes before Expires, and s-maxage is ignored")
    func lifetime() {
        #expect(freshness(["Cache-Control": "max-age=3600", "Expires": date(-10_000)]).lifetime == 3600)
        #expect(freshness(["Cache-Control": "max-age=0", "Expires": date(10_000)]).lifetime == 0)
        #expect(freshness(["Cache-Control": "s-maxage=3600, max-age=1"]).lifetime == 1)
        #expect(freshness(["Cache-Control": "s-maxage=3600"]).lifetime == 0)
        #expect(freshness(["Cache-Control": "max-age=3600, no-cache"]).lifetime == 0)
        #expect(freshness(["Cache-Control": "max-age=3600", "Expires": "0"]).lifetime == 3600)
    }

    @Test("section 5.3: Expires counts from Date, and a malformed date is in the past")
    func expires() {
        #expect(freshness(["Expires": date(600), "Date": date(0)]).lifetime == 600)
        #expect(freshness(["Expires": date(300), "Date": date(400)]).lifetime == 0)
        #expect(freshness(["Expires": date(10), "Date": date(-10)]).lifetime == 20)
        #expect(freshness(["Expires": date(10), "Date": "foo"]).lifetime == 10)
        #expect(freshness(["Expires": date(10)]).lifetime == 10)
        for invalid in ["0", "-1", "", "Thu, 18 Aug 2050 02:01:18 UTC", "Thu, 18-Aug-2050 02:01:18 GMT"] {
            #expect(freshness(["Expires": invalid, "Last-Modified": date(-86_400)]).lifetime == 0)
        }
        #expect(freshness(["Expires": "Thu, 18 Aug 9999 02:01:18 GMT"]).lifetime == 1 << 31)
        #expect(freshness(["Expires": "THU, 18 AUG 2050 02:01:18 GMT"]).lifetime > 0)
    }

    @Test("section 4.2.2: the heuristic lifetime is a tenth of the time since Last-Modified, at most a day")
    func heuristic() {
        #expect(freshness(["Last-Modified": date(-1000), "Date": date(0)]).lifetime == 100)
        #expect(freshness(["Last-Modified": date(-100 * 86_400), "Date": date(0)]).lifetime == 86_400)
        #expect(freshness(["Last-Modified": date(1000), "Date": date(0)]).lifetime == 0)
        #expect(freshness(["Last-Modified": "yesterday"]).lifetime == 0)
        #expect(freshness([:]).lifetime == 0)
        #expect(freshness(["Last-Modified": date(-1000), "Cache-Control": "max-age=x"]).lifetime == 0)
    }

    @Test(
        "section 4.2.2: the heuristic holds only for cacheable statuses and public answers",
        arguments: [
            (200, true), (201, false), (202, false), (203, true), (204, true), (206, false), (300, true),
            (301, true), (302, false), (303, false), (307, false), (308, true), (400, false), (403, false),
            (404, true), (405, true), (410, true), (414, true), (501, true), (500, false), (502, false),
            (503, false), (504, false), (599, false),
        ])
    func heuristicStatuses(status: Int, isCacheable: Bool) {
        let fields: HeaderFields = ["Last-Modified": date(-1000), "Date": date(0)]
        #expect((freshness(fields, status: status).lifetime > 0) == isCacheable)
        var open = fields
        open["Cache-Control"] = "public"
        #expect(freshness(open, status: status).lifetime == 100)
    }

    @Test("404 and 410 are fresh for five minutes, or less if the server says so")
    func negative() {
        for status in [404, 410] {
            #expect(freshness([:], status: status).lifetime == 300)
            #expect(freshness(["Cache-Control": "max-age=86400"], status: status).lifetime == 300)
            #expect(freshness(["Cache-Control": "max-age=10"], status: status).lifetime == 10)
            #expect(freshness(["Expires": date(-5000), "Date": date(0)], status: status).lifetime == 0)
        }
        #expect(freshness([:], status: 403).lifetime == 0)
    }

    @Test("section 4.2.3: the age is Age plus the response delay, or the time since Date if that is longer")
    func initialAge() {
        #expect(freshness(["Age": "30", "Date": date(0)]).initialAge == 30)
        #expect(freshness(["Age": "30", "Date": date(-50)]).initialAge == 50)
        #expect(freshness(["Age": "30", "Date": date(-20)], delay: 5).initialAge == 35)
        #expect(freshness(["Date": date(-7)]).initialAge == 7)
        #expect(freshness([:], delay: 4).initialAge == 4)
        #expect(freshness([:], delay: -4).initialAge == 0)
        // A server whose clock is ahead causes no negative age.
        #expect(freshness(["Date": date(400)]).initialAge == 0)
    }

    @Test(
        "section 5.1: the first of several ages counts, and a malformed one is ignored",
        arguments: [
            ("abc", 0), ("-7200", 0), ("7200.0", 0), ("7200, 0", 7200), ("0, 7200", 0), ("", 0),
            ("99999999999999999999", 1 << 31), (" 12 ", 12),
        ])
    func agesOfAllKinds(text: String, age: Int) {
        #expect(freshness(["Age": text, "Date": date(0)]).initialAge == age)
        #expect(freshness(["Age": "7200", "Date": date(0), "age": text]).initialAge == 7200)
    }

    @Test(
        "section 4.2.3: the age grows in the cache; a clock set back a little changes none, far makes all stale"
    )
    func resident() {
        #expect(Freshness.age(initial: 30, received: now, now: now + 12) == 42)
        #expect(Freshness.age(initial: 30, received: now, now: now) == 30)
        #expect(Freshness.age(initial: 30, received: now, now: now - 5) == 30)
        #expect(Freshness.age(initial: 30, received: now, now: now - 3600) == 1 << 31)
    }

    @Test("no time and no field overflows the arithmetic")
    func overflow() {
        for time in [Int.min, 0, Int.max] {
            #expect(Freshness.age(initial: 1 << 31, received: time, now: now) <= 1 << 31)
            #expect(Freshness.age(initial: 1 << 31, received: now, now: time) <= 1 << 31)
        }
        let far = HTTPDate.format(.max)
        let early = HTTPDate.format(.min)
        let odd: HeaderFields = [
            "Date": early, "Expires": far, "Age": "9223372036854775807", "Last-Modified": early,
        ]
        #expect(freshness(odd, delay: .max - (1 << 32)).lifetime == 1 << 31)
    }

    private func freshness(_ fields: HeaderFields, status: Int = 200, delay: Int = 0) -> Freshness {
        Freshness(
            ResponseHead(status: status, fields: fields), CacheControl(fields), received: now, delay: delay)
    }

    private func date(_ seconds: Int) -> String { HTTPDate.format(now + seconds) }
}
