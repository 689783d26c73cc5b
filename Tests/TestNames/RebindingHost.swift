import Glibc
import SystemSupport

/// A host name whose address changes with each look-up, as in a DNS rebinding attack.
///
/// The test program has its own `getaddrinfo`, which the dynamic linker prefers to the C library's, for
/// libcurl too. It answers for these names and passes all others on.
package final class RebindingHost: Sendable {
    private static let addresses = Lock<[String: [String]]>([:])
    private static let lastNumber = Lock(0)

    package let name: String

    /// A name with these addresses, one per look-up.
    package init(_ addresses: [String]) {
        let number = Self.lastNumber.withLock { number in
            number += 1
            return number
        }
        let name = "changing-\(number).example"
        self.name = name
        Self.addresses.withLock { $0[name] = addresses }
    }

    deinit {
        let name = name
        Self.addresses.withLock { $0[name] = nil }
    }

    /// The addresses that no look-up has returned yet.
    package var left: [String] {
        let name = name
        return Self.addresses.withLock { $0[name] ?? [] }
    }

    /// Looks the name up. Returns whether there was an answer.
    package func lookUp() -> Bool {
        var found: UnsafeMutablePointer<addrinfo>?
        defer { if let found = unsafe found { unsafe freeaddrinfo(found) } }
        return unsafe getaddrinfo(name, nil, nil, &found) == 0
    }

    /// The next address of a name; nil for a name that does not change.
    fileprivate static func next(of name: String) -> String? {
        addresses.withLock { addresses in
            guard let left = addresses[name], let first = left.first else { return nil }
            addresses[name] = Array(left.dropFirst())
            return first
        }
    }
}

private typealias LookUp =
    @convention(c) (
        UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<addrinfo>?,
        UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
    ) -> Int32

/// The C library's own function.
private let systemLookUp: LookUp? = {
    // RTLD_NEXT of dlfcn.h, which Swift does not import.
    let next = unsafe UnsafeMutableRawPointer(bitPattern: -1)
    return unsafe dlsym(next, "getaddrinfo").map { unsafe unsafeBitCast($0, to: LookUp.self) }
}()

@c(getaddrinfo) func changingLookUp(
    _ name: UnsafePointer<CChar>?, _ service: UnsafePointer<CChar>?, _ hints: UnsafePointer<addrinfo>?,
    _ found: UnsafeMutablePointer<UnsafeMutablePointer<addrinfo>?>?
) -> Int32 {
    guard let systemLookUp = unsafe systemLookUp else { return EAI_FAIL }
    guard let name = unsafe name, let address = RebindingHost.next(of: unsafe String(cString: name)) else {
        return unsafe systemLookUp(name, service, hints, found)
    }
    return unsafe systemLookUp(address, service, hints, found)
}
