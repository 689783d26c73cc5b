import CMarqueeSystem
import HTTPSemantics
import SystemSupport

/// A socket that listens.
final class Listener: Sendable {
    /// The listening port, chosen by the system if the address says 0; nil for a local socket.
    let port: UInt16?
    /// The most connections that wait in the system's queue.
    private static let backlog: Int32 = 512
    private let descriptor: Lock<Int32?>
    /// The file of a local socket.
    private let file: SocketFile?
    /// Whether another program listens too, and goes on.
    private let isPassed: Bool

    /// - Parameter mode: the permissions of a local socket. Default: nil, those of the umask.
    init(_ address: ListenAddress, mode: UInt32? = nil) throws(HTTPServerError) {
        let socketAddress: SocketAddress
        switch address {
        case .internet(let text, let port): socketAddress = try SocketAddress(text, port: port)
        case .local(let path): socketAddress = try SocketAddress(path: path)
        case .passed(let number, let host):
            (file, isPassed) = (nil, true)
            descriptor = Lock(number)
            port = host == nil ? nil : try SocketAddress.port(of: number)
            return
        }
        isPassed = false
        let descriptor = try Self.open(socketAddress)
        do {
            file = try Self.bind(descriptor, to: socketAddress, address, mode)
            port = file == nil ? try SocketAddress.port(of: descriptor) : nil
        } catch {
            close(descriptor)
            throw error
        }
        self.descriptor = Lock(descriptor)
    }

    deinit { stop() }

    /// The descriptor to wait on; nil after a stop.
    var waitable: Int32? { descriptor.withLock { $0 } }

    /// Frees the port or path. Connections not yet accepted are reset.
    func stop() {
        descriptor.withLock { descriptor in
            guard let number = descriptor.take() else { return }
            // While it listens, no other server takes its path.
            file?.remove()
            // A program that is just starting holds a copy of the descriptor for a moment. Shutdown ends listening on
            // the copy too.
            if !isPassed { _ = shutdown(number, Int32(SHUT_RDWR)) }
            close(number)
        }
    }

    /// The next connection, or the error number of a failed accept.
    func accept() -> Result<(socket: Int32, peer: Peer), AcceptFailure> {
        // Under the lock: another loop may stop the listener, and the system may reuse its number for another file.
        descriptor.withLock { descriptor in
            guard let descriptor else { return .failure(AcceptFailure(errno: EBADF)) }
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let socket = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe csystem_accept(descriptor, $0, &length)
                }
            }
            guard socket >= 0 else { return .failure(AcceptFailure(errno: errno)) }
            return .success((socket, Peer(storage)))
        }
    }

    struct AcceptFailure: Error {
        let errno: Int32

        /// Whether no connection can be accepted until others end: descriptors or memory are used up.
        var isExhaustion: Bool { [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) }

        /// Whether no connection waits. Other errors concern one connection, and the next may be fine (accept(2)).
        var isEmpty: Bool { [EAGAIN, EWOULDBLOCK, EBADF, EINVAL].contains(errno) }
    }

    private static func open(_ address: SocketAddress) throws(HTTPServerError) -> Int32 {
        let descriptor = socket(
            address.family, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
        return descriptor
    }

    /// Binds, gives a local socket its permissions, and listens.
    /// - Returns: the file of a local socket.
    private static func bind(
        _ descriptor: Int32, to socketAddress: SocketAddress, _ address: ListenAddress, _ mode: UInt32?
    ) throws(HTTPServerError) -> SocketFile? {
        var yes: Int32 = 1
        // Otherwise the port stays in use for a minute after the last run's connections.
        _ = unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var folder: Int32 = -1
        defer { close(folder) }
        if case .local(let path) = address {
            folder = lockFolder(of: path)
            try removeAbandoned(path, socketAddress)
        }
        let failed = unsafe socketAddress.withPointer { unsafe Glibc.bind(descriptor, $0, $1) } != 0
        if failed { throw error(errno, address) }
        var (file, failure) = (nil as SocketFile?, nil as Int32?)
        if case .local(let path) = address {
            file = SocketFile(path)
            // In this order: nobody can connect with the permissions of before, because nobody can connect yet.
            if let mode, unsafe chmod(path, mode) != 0 { failure = errno }
        }
        if failure == nil, Glibc.listen(descriptor, backlog) != 0 { failure = errno }
        guard let failure else { return file }
        file?.remove()
        throw error(failure, address)
    }

    /// Locks the folder of a local socket, so that one server at a time takes a path in it. Without the lock:
    ///
    /// 1. A and B find that nobody listens at the path.
    /// 2. A removes the dead socket and binds its own.
    /// 3. B removes A's socket and binds its own. Nobody reaches A any more.
    ///
    /// The lock is held until the socket listens: a bound one that does not listen yet looks dead.
    /// - Returns: a descriptor that holds the lock; -1 if the folder cannot be opened. A server has the lock for less than
    ///   a millisecond. If another program keeps it, this one starts without it after a second.
    private static func lockFolder(of path: String) -> Int32 {
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let folder = unsafe csystem_open(parent, O_RDONLY | O_DIRECTORY, 0)
        for _ in 0..<100 where flock(folder, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK {
            usleep(10_000)
        }
        return folder
    }

    /// Removes a socket on which no process listens any more: a killed server leaves its path behind. Everything else
    /// stays.
    private static func removeAbandoned(
        _ path: String, _ address: SocketAddress
    ) throws(HTTPServerError) {
        guard let found = SocketFile(path) else { return }
        if let kind = found.otherKind { throw .pathTaken(path, by: kind) }
        let descriptor = try open(address)
        defer { close(descriptor) }
        let isAbandoned =
            unsafe address.withPointer { unsafe connect(descriptor, $0, $1) } != 0 && errno == ECONNREFUSED
        guard isAbandoned else { throw .pathInUse(path) }
        found.remove()
    }

    private static func error(_ errno: Int32, _ address: ListenAddress) -> HTTPServerError {
        switch (errno, address) {
        case (EADDRINUSE, .internet(let address, let port)): .portInUse(address: address, port: port)
        case (EACCES, .internet(_, let port)), (EPERM, .internet(_, let port)): .portNotPermitted(port: port)
        case (EADDRNOTAVAIL, .internet(let address, _)): .addressNotHere(address)
        case (EADDRINUSE, .local(let path)): .pathInUse(path)
        case (_, .local(let path)): .pathRefused(path, errno: errno)
        default: .system(call: "bind", errno: errno)
        }
    }
}

/// The file at the path of a local socket.
private struct SocketFile {
    private let path: String
    private let status: stat

    /// The file that is there now, without following a link; nil if there is none.
    init?(_ path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        (self.path, self.status) = (path, status)
    }

    /// What it is, if it is not a socket.
    var otherKind: String? {
        switch status.st_mode & S_IFMT {
        case S_IFSOCK: return nil
        case S_IFREG: return "a file"
        case S_IFDIR: return "a folder"
        case S_IFIFO: return "a pipe"
        case S_IFLNK:
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = max(0, unsafe readlink(path, &target, target.count))
            return
                "a link to \(String(decoding: target[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self))"
        default: return "a device"
        }
    }

    /// Removes it, unless another file has taken its path.
    func remove() {
        guard let now = SocketFile(path), now.status.st_dev == status.st_dev,
            now.status.st_ino == status.st_ino
        else { return }
        unsafe unlink(path)
    }
}

/// An address in the form that the socket calls take.
package struct SocketAddress {
    private var storage = sockaddr_storage()
    private let length: socklen_t

    /// Reads a numeric address; names are not resolved.
    init(_ text: String, port: UInt16) throws(HTTPServerError) {
        var version4 = sockaddr_in()
        var version6 = sockaddr_in6()
        if unsafe inet_pton(AF_INET, text, &version4.sin_addr) == 1 {
            version4.sin_family = sa_family_t(AF_INET)
            version4.sin_port = port.bigEndian
            self.init(version4)
        } else if unsafe inet_pton(AF_INET6, text, &version6.sin6_addr) == 1 {
            version6.sin6_family = sa_family_t(AF_INET6)
            version6.sin6_port = port.bigEndian
            self.init(version6)
        } else {
            throw .invalidAddress(text)
        }
    }

    /// The address of a local socket.
    /// - Parameter isAbstract: whether the path is a name in the abstract namespace (unix(7)). Default: no.
    package init(path: String, isAbstract: Bool = false) throws(HTTPServerError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = (isAbstract ? [0] : []) + Array(path.utf8)
        let isWritten = unsafe withUnsafeMutableBytes(of: &address.sun_path) { place in
            guard !path.isEmpty, bytes.count < place.count, !path.utf8.contains(0) else { return false }
            unsafe place.copyBytes(from: bytes)
            return true
        }
        guard isWritten else { throw .invalidPath(path) }
        // An abstract name ends with the address.
        self.init(address, size: isAbstract ? MemoryLayout<sa_family_t>.size + bytes.count : nil)
    }

    private init<Address>(_ address: Address, size: Int? = nil) {
        length = socklen_t(size ?? MemoryLayout<Address>.size)
        unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: address, as: Address.self) }
    }

    var family: Int32 { Int32(storage.ss_family) }

    /// Lends the address and its length to a socket call.
    @unsafe fileprivate func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result)
        -> Result
    {
        unsafe withUnsafePointer(to: storage) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0, length) }
        }
    }

    /// Sends a datagram to the address, if the receiver has room for it now.
    package func send(_ message: [UInt8], from descriptor: Int32) {
        _ = unsafe withPointer {
            unsafe sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), $0, $1)
        }
    }

    /// The port a bound socket has.
    static func port(of descriptor: Int32) throws(HTTPServerError) -> UInt16 {
        // Both families have the port at the same offset, so the larger structure reads either.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        let failure = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(descriptor, $0, &length)
            }
        }
        guard failure == 0 else { throw .system(call: "getsockname", errno: errno) }
        return UInt16(bigEndian: address.sin6_port)
    }
}

extension Peer {
    /// The peer at the address that accept(2) gave.
    init(_ storage: sockaddr_storage) {
        let address = unsafe withUnsafeBytes(of: storage) { unsafe IPAddress(socketAddress: $0) }
        guard let address else {
            self.init(address: nil, isLocal: Int32(storage.ss_family) == AF_UNIX)
            return
        }
        // A socket that listens on both families reports IPv4 addresses inside IPv6.
        let text = "\(address.withoutMapping)"
        self.init(address: text, isLocal: HostAndPort(host: text, port: nil).isLoopback)
    }
}

/// Where a server listens.
package enum ListenAddress: Sendable, Hashable {
    /// An IPv4 or IPv6 address in numbers, and a port; 0 lets the system choose one.
    case internet(address: String, port: UInt16)
    /// A local socket at a path.
    case local(path: String)
    /// A socket that listens already, with its address in numbers; nil for a local one. See `passed(_:)`.
    case passed(descriptor: Int32, host: String?)

    /// The address in numbers; nil for a local socket.
    package var host: String? {
        switch self {
        case .internet(let host, _), .passed(_, let host?): host
        case .local, .passed(_, nil): nil
        }
    }

    /// A socket that the service manager has made; nil if none listens at this descriptor.
    package static func passed(_ descriptor: Int32) -> ListenAddress? {
        var (listens, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        var (storage, length) = (sockaddr_storage(), socklen_t(MemoryLayout<sockaddr_storage>.size))
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0, listens != 0,
            unsafe withUnsafeMutablePointer(
                to: &storage,
                { pointer in
                    unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                        unsafe getsockname(descriptor, $0, &length)
                    }
                }) == 0, fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0,
            fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0
        else { return nil }
        return .passed(descriptor: descriptor, host: Peer(storage).address)
    }
}
