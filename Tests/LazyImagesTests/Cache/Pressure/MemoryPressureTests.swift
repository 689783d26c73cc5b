import CMarqueeSystem
import FoundationEssentials
import Glibc
import ImageCodecs
import SystemSupport
import TestSupport
import TestTraits
import Testing

@testable import LazyImages

@Suite("Memory pressure", .bounded)
struct MemoryPressureTests {
    @Test("every reader gets the present level unless it is normal, and each change once")
    func readers() async throws {
        let pressure = MemoryPressure()
        var first = pressure.makeAsyncIterator()
        pressure.report(.warning)
        pressure.report(.warning)
        #expect(await first.next() == .warning)
        var second = pressure.makeAsyncIterator()
        #expect(await second.next() == .warning && pressure.level == .warning)
        pressure.report(.critical)
        pressure.report(.normal)
        #expect(await first.next() == .normal)
        #expect(await second.next() == .normal)
    }

    @Test("every reader ends on the present level when two threads report at once")
    func newestLevel() async throws {
        let pressure = MemoryPressure()
        var readers = (0..<200).map { _ in pressure.makeAsyncIterator() }
        let threads = BlockingThreads(count: 2)
        var old = 0
        for _ in 0..<200 {
            async let warning: Void = threads.run { pressure.report(.warning) }
            async let critical: Void = threads.run { pressure.report(.critical) }
            try await warning
            try await critical
            let level = pressure.level
            for index in readers.indices where await readers[index].next() != level { old += 1 }
            pressure.report(.normal)
            for index in readers.indices where await readers[index].next() != .normal { old += 1 }
        }
        #expect(old == 0)
    }

    /// A second, whether a signal came then, the share of memory left, and the level after it.
    typealias PressureStep = (second: Int64, isSignal: Bool, left: Double?, level: MemoryPressure.Level)

    @Test(
        "a signal is a warning, critical if little memory is left or it lasts; without one the free memory decides",
        arguments: [
            [
                // The second signal comes before the warning has had time to help.
                (5, false, 0.5, .normal), (10, true, 0.5, .warning), (11, true, 0.5, .warning),
                (12, true, nil, .critical), (17, false, 0.5, .critical), (18, false, 0.5, .normal),
                (20, true, 0.01, .critical),
            ],
            [
                (1, false, 0.08, .warning), (20, false, 0.08, .warning), (21, false, 0.02, .critical),
                (40, false, 0.5, .normal), (41, false, nil, .normal),
            ],
        ] as [[PressureStep]])
    func estimator(steps: [PressureStep]) {
        var estimator = PressureEstimator()
        for (second, isSignal, left, level) in steps {
            let now = second * 1_000_000_000
            if isSignal {
                estimator.signal(at: now, left: left)
            } else {
                estimator.check(at: now, left: left)
            }
            #expect(estimator.level == level, "second \(second)")
        }
    }

    @Test(
        "systemd's protocol over a FIFO and over a socket: the text is written, and each signal back is a warning",
        arguments: [false, true])
    func systemd(overSocket: Bool) async throws {
        let folder = try TemporaryFolder()
        let path = folder.file("pressure")
        let manager = try PressureManager(path, isSocket: overSocket)
        let warned = Tally()
        try MemoryWatch.start(
            environment: [
                "MEMORY_PRESSURE_WATCH": path,
                "MEMORY_PRESSURE_WRITE": Data("hello".utf8).base64EncodedString(),
            ], memory: SystemMemory(root: folder.path)
        ) { level in
            if level == .warning { warned.add() }
            return level == .normal
        }
        let received = try await BlockingThreads(count: 1).run { manager.receive() }
        #expect(received == Array("hello".utf8))
        manager.signal()
        try await warned.wait(for: 1)
    }

    @Test(
        "a service manager that names /dev/null wants no watch; a path that leads nowhere leaves the free memory to decide"
    )
    func noWatch() async throws {
        let folder = try TemporaryFolder()
        try FileManager.default.createDirectory(
            atPath: folder.file("proc"), withIntermediateDirectories: false)
        try write(Array("MemTotal: 100 kB\nMemAvailable: 5 kB\n".utf8), to: folder.file("proc/meminfo"))
        let memory = SystemMemory(root: folder.path)
        try MemoryWatch.start(environment: ["MEMORY_PRESSURE_WATCH": "/dev/null"], memory: memory) { _ in
            Issue.record("/dev/null must not be watched")
            return false
        }
        let warned = Tally()
        try MemoryWatch.start(environment: ["MEMORY_PRESSURE_WATCH": folder.file("nowhere")], memory: memory)
        {
            level in
            if level == .warning { warned.add() }
            return level == .normal
        }
        try await warned.wait(for: 1)
    }

    @Test("a warning halves the memory tier; at critical only pinned values stay")
    func loaderGivesBack() async throws {
        let pressure = MemoryPressure()
        let memory = MemoryCache<LoadedImage>(limit: 1_000)
        let loader = ImageLoader(memory: memory, disk: nil, transport: HeldTransport(), pressure: pressure)
        let requests = (0..<10).map { ImageRequest("https://example.org/\($0)") }
        let png = SampleImages.png
        let bitmap = try ImageDecoders.standard.decode(png)
        let header = try ImageHeader(parsing: png.span)
        for request in requests {
            memory.store(
                LoadedImage(bitmap: bitmap, header: header, url: request.url), for: request.resultKey,
                cost: 100)
        }
        let pin = loader.pin(requests[0])
        defer { withExtendedLifetime(pin) {} }
        pressure.report(.warning)
        try await eventually { memory.counters.bytes <= 500 }
        #expect(memory.counters.entries == 5)
        pressure.report(.critical)
        try await eventually { memory.counters.bytes <= 100 }
        #expect(loader.cachedImage(for: requests[0]) != nil)
    }

    @Test("a FileLoader releases memory too, if it is told of pressure", arguments: [false, true])
    func fileLoader(isEphemeral: Bool) async throws {
        let (pressure, transport) = (MemoryPressure(), HeldTransport())
        let memory = MemoryCache<LoadedFile>(limit: 200)
        let loader =
            isEphemeral
            ? FileLoader.ephemeral(memory: memory, transport: transport, pressure: pressure)
            : FileLoader(memory: memory, disk: nil, transport: transport, pressure: pressure)
        for number in 0..<2 {
            try await loader.store(
                SampleImages.png, for: ImageRequest("https://example.org/\(number)"))
        }
        #expect(memory.counters.bytes == 140)
        pressure.report(.warning)
        try await eventually { memory.counters.bytes == 70 }
        let unseen = ImageRequest("https://example.org/unseen", priority: .low)
        let caller = try await loader.callers(1, of: unseen)
        pressure.report(.critical)
        #expect(await caller.outcomes[0].error == .memoryShort(url: "https://example.org/unseen"))
        #expect(memory.counters.bytes == 0)
    }

    @Test(
        "at critical, downloads without a visible row are cancelled, and decoding waits until the pressure has passed"
    )
    func loaderStops() async throws {
        let pressure = MemoryPressure()
        let transport = HeldTransport()
        let loader = ImageLoader(disk: nil, transport: transport, pressure: pressure)
        let (seen, unseen) = (
            ImageRequest("https://example.org/seen", priority: .high),
            ImageRequest("https://example.org/unseen", priority: .low)
        )
        async let first = outcome(loader, seen)
        async let second = outcome(loader, unseen)
        let transfers = try await transport.transfers(2)
        pressure.report(.critical)
        #expect(await second == .failure(.memoryShort(url: "https://example.org/unseen")))
        for transfer in transfers {
            transfer.answer(SampleImages.png, fields: ["Cache-Control": "max-age=3600"])
        }
        #expect(await first == .failure(.memoryShort(url: "https://example.org/seen")))
        pressure.report(.normal)
        #expect(
            try await outcome(loader, seen).get() == ImageSize(width: 2, height: 3), "and its file was kept")
        #expect(transport.requests.count == 2)
    }

    @Test("rising pressure is a memory warning to the list: its prefetches are cancelled")
    func list() async throws {
        let pressure = MemoryPressure()
        let transport = HeldTransport()
        let loader = ImageLoader(disk: nil, transport: transport, pressure: nil)
        let rows = (0..<6).map { ImageRequest("https://example.org/\($0)") }
        let model = ImageListModel(loader: loader, rows: rows, pressure: pressure)
        model.setVisible(0..<3)
        // The order of their start is not fixed.
        for transfer in try await transport.transfers(6)
        where ["/0", "/1", "/2"].contains(transfer.request.url.path) { transfer.answer(SampleImages.png) }
        pressure.report(.warning)
        try await eventually { loader.files.downloader.transferCount == 0 }
        try await eventually { model.state(of: rows[0]).isLoaded }
        #expect(!model.state(of: rows[4]).isLoaded && transport.requests.count == 6)
    }

    private func outcome(
        _ loader: ImageLoader, _ request: ImageRequest
    ) async -> Result<ImageSize, ImageLoadingError> {
        do throws(ImageLoadingError) {
            return .success(try await loader.image(for: request).bitmap.size)
        } catch { return .failure(error) }
    }
}

extension RowState {
    fileprivate var isLoaded: Bool {
        if case .loaded = self { return true }
        return false
    }
}

/// The service manager's side of systemd's protocol: a FIFO, or a socket that takes one connection.
private final class PressureManager: Sendable {
    private let descriptor: Int32
    private let isSocket: Bool

    init(_ path: String, isSocket: Bool) throws {
        self.isSocket = isSocket
        if isSocket {
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            unsafe withUnsafeMutableBytes(of: &address.sun_path) { bytes in
                unsafe bytes.copyBytes(from: path.utf8)
            }
            let bound = unsafe withUnsafePointer(to: address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    unsafe bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            try #require(bound == 0 && listen(descriptor, 1) == 0)
        } else {
            try #require(unsafe mkfifo(path, 0o600) == 0)
            descriptor = unsafe open(path, O_RDWR)
        }
    }

    deinit { close(descriptor) }

    /// The bytes that the program wrote. For a FIFO, the expected text: the program reads its own bytes back.
    func receive() -> [UInt8] {
        guard isSocket else { return Array("hello".utf8) }
        peer.withLock { $0 = accept(descriptor, nil, nil) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = unsafe read(peer.withLock { $0 }, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    func signal() {
        _ = unsafe write(isSocket ? peer.withLock { $0 } : descriptor, [1], 1)
    }

    private let peer = Lock<Int32>(-1)
}
