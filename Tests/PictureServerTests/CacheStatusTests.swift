import TestTraits
import Testing

@testable import PictureServer

@Suite("Cache-Status", .bounded)
struct CacheStatusTests {
    @Test("RFC 9211: the field says how the cache handled a request")
    func cacheStatus() {
        #expect(CacheStatus(timeToLive: 280).value == "marquee; hit; ttl=280")
        #expect(CacheStatus(timeToLive: -5).value == "marquee; hit; ttl=-5")
        #expect(
            CacheStatus(forward: .uriMiss, forwardStatus: 200, timeToLive: 600, isStored: true).value
                == "marquee; fwd=uri-miss; fwd-status=200; stored; ttl=600")
        #expect(
            CacheStatus(forward: .stale, forwardStatus: 304, isCollapsed: true).value
                == "marquee; fwd=stale; fwd-status=304; collapsed")
        #expect(CacheStatus(forward: .stale).value == "marquee; fwd=stale")
    }
}
