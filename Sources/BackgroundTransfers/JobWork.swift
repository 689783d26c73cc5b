import LazyImages
package import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// Works on the remaining images of a job.
struct JobWork: Sendable {
    private struct Piece: Sendable {
        let index: Int
        let request: ImageRequest
    }

    let recorder: JobRecorder
    private let log: JobLog
    private let wantsChecksums: Bool
    private let explain: @Sendable (ImageLoadingError) -> String
    private let local: Prewarmer
    private let remote: Prewarmer
    private let localPieces: [Piece]
    private let remotePieces: [Piece]
    private let refusesCellular: Bool

    /// How long a job waits before it retries images that failed without a network. By then the path monitor has
    /// reported it.
    private static let pause = Duration.seconds(1)

    init(
        _ requests: [ImageRequest], _ remaining: [Int], loader: FileLoader, concurrency: Int,
        refusesCellular: Bool, recorder: JobRecorder, log: JobLog, wantsChecksums: Bool,
        explain: @escaping @Sendable (ImageLoadingError) -> String
    ) {
        let pieces = remaining.map { Piece(index: $0, request: requests[$0]) }
        localPieces = pieces.filter(\.request.url.isOfThisMachine)
        remotePieces = pieces.filter { !$0.request.url.isOfThisMachine }
        local = Prewarmer(loader, concurrency: concurrency)
        remote = Prewarmer(loader, concurrency: concurrency)
        self.refusesCellular = refusesCellular
        self.recorder = recorder
        self.log = log
        self.wantsChecksums = wantsChecksums
        self.explain = explain
    }

    /// Returns when all images are done, or the task is cancelled, and all results are written.
    func run(paths: some AsyncSequence<NetworkPath, Never> & Sendable, pressure: MemoryPressure) async {
        let gate = JobGate(
            local: local, remote: remote, remoteRequests: remotePieces.map(\.request),
            refusesCellular: refusesCellular
        ) { [recorder] wait in recorder.add(.waiting(wait)) }
        let writing = Task { [recorder, local, remote] in
            await recorder.write {
                // Without results the work would be lost.
                for prewarmer in [local, remote] { prewarmer.finish() }
            }
        }
        await withTaskGroup(of: Void.self) { watch in
            watch.addTask { for await path in paths { await gate.record(path) } }
            watch.addTask { for await level in pressure { await gate.record(level) } }
            async let localWork: Void = work(on: localPieces, by: local, needsNetwork: false)
            async let remoteWork: Void = work(on: remotePieces, by: remote, needsNetwork: true)
            _ = await (localWork, remoteWork)
            watch.cancelAll()
        }
        recorder.finish()
        await writing.value
    }

    /// Runs until each piece has a result. Pieces that were cancelled without a network begin again.
    private func work(on pieces: [Piece], by prewarmer: Prewarmer, needsNetwork: Bool) async {
        var rest = pieces
        while !rest.isEmpty, !Task.isCancelled, recorder.fault == nil {
            let now = rest
            var done: Set<Int> = []
            await prewarmer.run(now.map(\.request)) { result in
                let index = now[result.index].index
                guard !(needsNetwork && lacksNetwork(result.outcome)),
                    let record = JobResult(
                        result, index: index, wantsChecksum: wantsChecksums, explain: explain)
                else { return }
                done.insert(index)
                recorder.add(.result(record))
                if let error = record.error { await log(error.message) }
            }
            rest.removeAll { done.contains($0.index) }
            // Losing the error is right: the loop checks for cancellation.
            if !rest.isEmpty { try? await Task.sleep(for: Self.pause) }
        }
    }

    private func log(_ message: String) async {
        await BlockingThreads.runOnOwnThread { [log] in log.add(message) }
    }

    /// Whether an image failed because there is no network, and so must be loaded again.
    private func lacksNetwork(_ outcome: Prewarmer.Outcome) -> Bool {
        guard case .failed(let error) = outcome else { return false }
        switch error {
        case .hostNotFound, .connectionFailed, .connectionLost, .timedOut:
            return PathMonitor.currentPath().reach == .none
        default: return false
        }
    }
}

extension URL {
    /// Whether it needs no network: a `file:` or `data:` URL, or a server on the loopback interface.
    package var isOfThisMachine: Bool {
        isLocal || HostAndPort(host: lowercasedHost, port: nil).isLoopback
    }
}
