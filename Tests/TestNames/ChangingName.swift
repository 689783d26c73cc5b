import Glibc
import SystemSupport

/// A host name that has another address at each look-up, as the name of an attacker's host may have.
///
/// The name service is the system's, for libcurl too: the test program has a `getaddrinfo` of its own, which the dynamic
/// linker prefers to the C library's. It answers for these names and hands all others on.
package final class ChangingName: Sendable {
    private static let addresses = Lock<[String: [String]]>([:])
    private static let lastNumber = Lock(0)

    package let name: String

    /// A name that has these addresses, one after the other.
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

    /// The addresses that nobody has been told yet.
    package var left: [String] {
        let name = name
        return Self.addresses.withLock { $0[name] ?? [] }
    }

    /// Looks the name up; whether there was an answer.
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
    guard let name = unsafe name, let address = ChangingName.next(of: unsafe String(cString: name)) else {
        return unsafe systemLookUp(name, service, hints, found)
    }
    return unsafe systemLookUp(address, service, hints, found)
}
