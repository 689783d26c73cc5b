import FoundationEssentials
import LazyImages
import PictureService
import SystemSupport

/// `marquee picture URL|FILE... RECIPE -o OUT`: makes pictures at a size, byte for byte as the picture service does.
enum PictureCommand: Command {
    static let specification = CommandSpecification(
        name: "picture", operands: "URL|FILE... RECIPE", operandCount: 2...Int.max,
        summary: "make pictures at a size, as the picture service does",
        examples: [
            ("marquee picture poster.jpg w342 -o small.jpg", "at most 342 pixels wide"),
            ("marquee picture *.jpg 342x513.fill -o small", "filling a size, into a folder"),
            ("marquee picture - w185.q60 -o small < urls.txt", "all files and addresses of a list"),
        ],
        options: [
            Option(
                name: "output", letter: "o", value: "OUT", help: "the file to write; for several, the folder"),
            Option(
                name: "workers", value: "N",
                help: "threads that decode and encode (default: one for each processor)"),
            Option(name: "concurrency", value: "N", help: "transfers at once (default: 32)"),
            Option(name: "per-host", value: "N", help: "transfers at once to one host (default: 6)"),
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let sources = session.arguments.operands.dropLast()
        let maker = Maker(
            recipe: try recipe(session.arguments.operands), output: try output(session, sources),
            workers: try session.arguments.number("workers", in: 1...1024), session)
        let words = Words(sources)
        let report = FetchReport(session)
        let opened = session.makeLoader(keepsFiles: false)
        await withTaskGroup(of: FetchRecord.self) { group in
            var slots = session.settings.downloads.transfers
            do throws(Failure) {
                while !Task.isCancelled, let word = try await words.next() {
                    if slots == 0, let record = await group.next() {
                        report.add(record)
                        slots += 1
                    }
                    // In the order of the words, so that file names do not depend on which picture is made first.
                    let job = maker.job(for: word)
                    group.addTask { await job.run(with: opened.loader) }
                    slots -= 1
                }
            } catch {
                if !Task.isCancelled { report.add(error) }
            }
            for await record in group { report.add(record) }
        }
        await opened.close()
        session.reportFaults()
        if report.counts.ended == 0, !Task.isCancelled {
            throw Failure("nothing to make: standard input names no picture")
        }
        return report.status
    }

    private static func recipe(_ operands: [String]) throws(UsageError) -> PictureRecipe {
        do {
            return try PictureRecipe(operands[operands.count - 1])
        } catch {
            throw UsageError("\(error); the recipe comes last")
        }
    }

    /// A folder for several pictures, or if the output names one; else a file.
    private static func output(
        _ session: Session, _ sources: ArraySlice<String>
    ) throws -> PictureOutput {
        guard let path = session.arguments.value("output"), !path.isEmpty else {
            throw UsageError("picture needs -o OUT: the file to write, or for several the folder")
        }
        var isFolder = false
        let isThere = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        if sources.count == 1, !sources.contains("-"), !path.hasSuffix("/"), !(isThere && isFolder) {
            return .file(path)
        }
        return .folder(try OutputFolder(path))
    }
}

/// Where pictures are written.
enum PictureOutput: Sendable {
    case file(String)
    case folder(OutputFolder)
}

extension PictureCommand {
    /// The words that name pictures: the operands and, in place of `-`, the lines of standard input. One caller at a
    /// time.
    private actor Words {
        private let input = InputLines()
        private var words: ArraySlice<String>
        private var readsInput = false

        init(_ words: ArraySlice<String>) { self.words = words }

        func next() async throws(Failure) -> String? {
            while true {
                if readsInput {
                    if let line = try await input.next() { return line }
                    readsInput = false
                }
                guard let word = words.popFirst() else { return nil }
                if word != "-" { return word }
                readsInput = true
            }
        }
    }

    /// What all pictures of a run share.
    private struct Maker: Sendable {
        let recipe: PictureRecipe
        let output: PictureOutput
        let session: Session
        let threads: BlockingThreads

        /// - Parameter workers: pictures made at once, each with a processor and its memory. Default: one for each
        ///   processor.
        init(recipe: PictureRecipe, output: PictureOutput, workers: Int?, _ session: Session) {
            (self.recipe, self.output, self.session) = (recipe, output, session)
            threads = BlockingThreads(count: workers ?? ProcessInfo.processInfo.activeProcessorCount)
        }

        func job(for word: String) -> Job {
            let address = FetchTarget.isAddress(word) ? word : URL(filePath: word).absoluteString
            let request = Result { () throws(ImageLoadingError) in
                try session.request(for: address, relativeTo: nil)
            }
            var name: String?
            if case .folder(let folder) = output, case .success(let request) = request {
                name = folder.claim(request, name: OutputFolder.name(of: request.url, name: nil).stem)
            }
            return Job(maker: self, address: address, request: request, name: name)
        }
    }

    /// One picture.
    private struct Job: Sendable {
        let maker: Maker
        let address: String
        let request: Result<ImageRequest, ImageLoadingError>
        /// The file's name in the folder.
        let name: String?

        func run(with loader: FileLoader) async -> FetchRecord {
            let request: ImageRequest
            do {
                request = try self.request.get()
            } catch {
                return FetchRecord(error, of: address)
            }
            var (record, file) = await FetchRecord.fetching(request, with: loader, maker.session)
            guard let file else { return record }
            do {
                let picture = try await file.picture(maker.recipe, on: maker.threads)
                record.describe(picture, wantsChecksum: maker.session.settings.wantsChecksum)
                record.file = try await written(picture, for: file)
            } catch let error as ImageLoadingError {
                record.fail(Failure(error.advised, code: error.code))
            } catch {
                record.fail(error as? Failure ?? Failure("\(address): \(error)"))
            }
            return record
        }

        private func written(_ picture: Picture, for file: LoadedFile) async throws -> String {
            switch maker.output {
            case .file(let path):
                try await OutputFolder.write(picture.bytes, to: path, on: maker.threads)
                return path
            case .folder(let folder):
                let image = LoadedFile(bytes: picture.bytes, header: picture.header, url: file.url)
                return try await folder.write(image, as: name ?? "image")
            }
        }
    }
}
