package import FoundationEssentials
import HTTPSemantics
import SystemSupport

/// The work on what is left of a job.
struct JobWork: Sendable {
    private struct Piece: Sendable {
        let index: Int
        let request: ImageRequest
    }

    let recorder: JobRecorder
    private let log: JobLog
    private let wantsChecksums: Bool
    private let explain: @Sendable (ImageLoadingError) -> String
    private let near: Prewarmer
    private let far: Prewarmer
    private let nearPieces: [Piece]
    private let farPieces: [Piece]
    private let refusesCellular: Bool

    /// How long a job waits before it tries again what failed for want of a network: by then the monitor has said so.
    private static let pause = Duration.seconds(1)

    init(
        _ requests: [ImageRequest], _ remaining: [Int], loader: FileLoader, concurrency: Int,
        refusesCellular: Bool, recorder: JobRecorder, log: JobLog, wantsChecksums: Bool,
        explain: @escaping @Sendable (ImageLoadingError) -> String
    ) {
        let pieces = remaining.map { Piece(index: $0, request: requests[$0]) }
        nearPieces = pieces.filter(\.request.url.isOfThisMachine)
        farPieces = pieces.filter { !$0.request.url.isOfThisMachine }
        near = Prewarmer(loader, concurrency: concurrency)
        far = Prewarmer(loader, concurrency: concurrency)
        self.refusesCellular = refusesCellular
        self.recorder = recorder
        self.log = log
        self.wantsChecksums = wantsChecksums
        self.explain = explain
    }

    /// Returns when all is done, or the task was cancelled, and everything is recorded.
    func run(paths: some AsyncSequence<NetworkPath, Never> & Sendable, pressure: MemoryPressure) async {
        let gate = JobGate(
            near: near, far: far, farRequests: farPieces.map(\.request), refusesCellular: refusesCellular
        ) { [recorder] wait in recorder.add(.waiting(wait)) }
        let writing = Task { [recorder, near, far] in
            await recorder.write {
                // Without a record all work is for nothing.
                for prewarmer in [near, far] { prewarmer.stop() }
            }
        }
        await withTaskGroup(of: Void.self) { watch in
            watch.addTask { for await path in paths { await gate.note(path) } }
            watch.addTask { for await level in pressure { await gate.note(level) } }
            async let nearWork: Void = work(on: nearPieces, by: near, mayLackNetwork: false)
            async let farWork: Void = work(on: farPieces, by: far, mayLackNetwork: true)
            _ = await (nearWork, farWork)
            watch.cancelAll()
        }
        recorder.finish()
        await writing.value
    }

    /// Until each piece has a result: what was given up while there was no network begins again.
    private func work(on pieces: [Piece], by prewarmer: Prewarmer, mayLackNetwork: Bool) async {
        var rest = pieces
        while !rest.isEmpty, !Task.isCancelled, recorder.fault == nil {
            let now = rest
            var done: Set<Int> = []
            await prewarmer.run(now.map(\.request)) { result in
                let index = now[result.index].index
                guard !(mayLackNetwork && isForWantOfNetwork(result.outcome)),
                    let record = JobResult(
                        result, index: index, wantsChecksum: wantsChecksums, explain: explain)
                else { return }
                done.insert(index)
                recorder.add(.result(record))
                if let error = record.error { await note(error.message) }
            }
            rest.removeAll { done.contains($0.index) }
            // Losing the error is right: a cancelled task sees it above.
            if !rest.isEmpty { try? await Task.sleep(for: Self.pause) }
        }
    }

    private func note(_ message: String) async {
        await BlockingThreads.runInAnyCase { [log] in log.add(message) }
    }

    /// Whether an image failed because there is no network: then it is not the image's own failure.
    private func isForWantOfNetwork(_ outcome: Prewarmer.Outcome) -> Bool {
        guard case .failed(let error) = outcome else { return false }
        switch error {
        case .hostNotFound, .connectionFailed, .connectionLost, .timedOut:
            return PathMonitor.currentPath().reach == .none
        default: return false
        }
    }
}

extension URL {
    /// Whether no network is needed for it: a file, data, or a server on this machine's loopback interface.
    package var isOfThisMachine: Bool {
        isLocal || HostName(host: lowercasedHost, port: nil).isLoopback
    }
}
