import FoundationEssentials
import ImageCodecs
import LazyImages
import PictureService
import SystemSupport

/// `marquee picture URL|FILE... RECIPE -o OUT`: makes pictures at a size, byte for byte as the picture service does.
/// With `--size` in place of `-o` it shows them.
enum PictureCommand: Command {
    static let specification = CommandSpecification(
        name: "picture", operands: "URL|FILE... RECIPE", operandCount: 2...Int.max,
        summary: "make pictures at a size, as the picture service does",
        examples: [
            ("marquee picture poster.jpg w342 -o small.jpg", "at most 342 pixels wide"),
            ("marquee picture *.jpg 342x513.fill -o small", "filling a size, into a folder"),
            ("marquee picture - w185.q60 -o small < urls.txt", "all files and addresses of a list"),
            ("curl -s URL | marquee picture - w342 -o - | wc -c", "from and to other programs"),
            ("marquee picture poster.jpg 342x513.fill -s 40x20", "show it in the terminal"),
        ],
        options: [
            Option(
                name: "output", letter: "o", value: "OUT",
                help: "the file to write; for several, the folder; - for standard output"),
            .size,
            Option(
                name: "workers", value: "N",
                help: "threads that decode and encode (default: one for each processor)"),
            .concurrency, .perHost,
        ] + ExistingFile.options,
        notes: [
            "Standard input (-) is one picture if it begins like one or -o names one file, else a list. "
                + "A picture that is there is replaced, unless --no-clobber is given. Any other file is replaced only with "
                + "--force, and the source itself never. A name that ends in .png makes a PNG, unless the recipe names "
                + "another format."
        ])

    static func run(_ session: Session) async throws -> ExitStatus {
        let sources = session.arguments.operands.dropLast()
        let existing = try ExistingFile(session.arguments, else: .replacePicture)
        let workers = try session.arguments.number("workers", in: 1...1024)
        let path = try outputPath(session)
        let input = InputLines()
        var piped: FetchTarget?
        if sources.contains("-") {
            // One file has no room for a list.
            let isOne = sources.count == 1 && (path == "-" || FetchTarget.looksLikePicture(path ?? ""))
            piped = try await input.picture(isSure: isOne, limit: session.settings.downloads.maximumBytes)
                .map { bytes throws(Failure) in try FetchTarget(pipe: bytes) }
        }
        let isSingle = sources.count == 1 && (piped != nil || !sources.contains("-"))
        let output = try path.map {
            try OutputPlace($0, isSingle: isSingle, makesFile: true, existing: existing)
        }
        let words = OperandWords(sources, input: piped == nil ? input : nil)
        let maker = Maker(
            recipe: try recipe(session.arguments.operands, output), output: output, session: session,
            threads: BlockingThreads(count: workers ?? ProcessInfo.processInfo.activeProcessorCount))
        // Standard output is the picture's alone.
        let isData = if case .standardOutput = output { true } else { false }
        let report = BatchReport(isData ? session.silent() : session, warnsOfDamage: true)
        let opened = session.makeLoader(keepsFiles: false)
        await Batch.run(
            // Pictures are shown in the order of the words.
            atOnce: output == nil ? 1 : session.settings.downloads.transfers, report,
            next: { [piped] () throws(Failure) in
                guard let word = try await words.next() else { return nil }
                if word == "-", let piped { return .item(piped) }
                let named = FetchTarget.isAddress(word) ? FetchTarget(address: word) : FetchTarget(file: word)
                return .item(try await named.readingPipe(session))
            },
            job: { maker.job(for: $0, with: opened.loader) })
        await opened.close()
        session.reportFaults()
        return try report.status(ifNothing: "nothing to make: standard input names no picture")
    }

    /// The recipe. If it names no format, the output's name does.
    private static func recipe(
        _ operands: [String], _ output: OutputPlace?
    ) throws(UsageError) -> PictureRecipe {
        let recipe: PictureRecipe
        do {
            recipe = try PictureRecipe(operands[operands.count - 1])
        } catch {
            throw UsageError("\(error); the recipe comes last")
        }
        guard case .file(let file, _)? = output, file.ending.lowercased() == ".png", recipe.size != .original,
            recipe.encoding == .automatic(quality: nil)
        else { return recipe }
        return recipe.asPNG
    }

    /// The value of `-o`; nil if the pictures are shown.
    private static func outputPath(_ session: Session) throws(UsageError) -> String? {
        guard let path = session.arguments.value("output") else {
            if session.settings.pictureSize != nil { return nil }
            throw UsageError(
                "picture needs -o OUT: the file to write, or for several the folder; or --size to show it")
        }
        if path == "-", session.settings.wantsJSON { throw UsageError("-o - and --json exclude each other") }
        if path == "-", Output.isTerminal {
            throw UsageError(
                "a terminal shows no bytes of a picture; use --size 40x20 to show it, or -o FILE")
        }
        return path
    }
}

extension PictureCommand {
    /// What all pictures of a run share.
    private struct Maker: Sendable {
        let recipe: PictureRecipe
        /// Nil if the pictures are shown.
        let output: OutputPlace?
        let session: Session
        /// One for each picture that is made at once, with a processor and its memory.
        let threads: BlockingThreads

        func job(for target: FetchTarget, with loader: FileLoader) -> Batch.Job {
            let request: ImageRequest
            do throws(ImageLoadingError) {
                request = try session.request(for: target.address, relativeTo: nil)
            } catch {
                let record = FetchRecord(error, of: target.address)
                return { record }
            }
            // The address gives the name; the picture's format gives the ending.
            let write = output?.writer(
                of: request, OutputFolder.name(of: request.url, name: target.name).stem)
            return {
                var (record, file) = await FetchRecord.fetching(request, with: loader, session)
                guard let file else { return record.naming(target) }
                do {
                    let picture = try await file.picture(
                        recipe, limits: session.settings.decoding, on: threads)
                    record.describe(picture, wantsChecksum: session.settings.wantsChecksum)
                    if let write {
                        // The file behind standard input is not written over either.
                        let source = target.isPipe ? URL(filePath: "/dev/stdin") : file.url
                        record.setFile(
                            try await write(
                                LoadedFile(bytes: picture.bytes, header: picture.header, url: source)))
                        if let warning = disagreement(picture.format) { session.output.notice(warning) }
                    } else {
                        try await show(picture)
                    }
                } catch let error as ImageLoadingError {
                    record.fail(Failure(error))
                } catch {
                    record.fail(error as? Failure ?? Failure("\(target.address): \(error)"))
                }
                return record.naming(target)
            }
        }

        /// Why a picture has another format than its file's name says; nil if it has not.
        func disagreement(_ format: ImageFormat) -> String? {
            guard case .file(let file, _)? = output else { return nil }
            let ending = file.ending.lowercased()
            let isJPEG = format == .jpeg
            guard isJPEG ? ending == ".png" : [".jpg", ".jpeg"].contains(ending) else { return nil }
            let name = "name it \(file.stem)" + (isJPEG ? ".jpg" : ".png")
            let reason =
                switch (recipe.size, recipe.encoding) {
                case (.original, _): "as the original is; \(name)"
                case (_, .png): "because \(recipe) says so; \(name)"
                case (_, .automatic(let quality?)) where isJPEG:
                    "because \(recipe) says so; leave out .q\(quality) for a PNG"
                case (_, .automatic): "because it is transparent; \(name)"
                }
            return "\(file.path()) is a \(isJPEG ? "JPEG" : "PNG"), \(reason)"
        }

        /// Shows a picture, or writes its bytes to standard output.
        func show(_ picture: Picture) async throws {
            if output != nil { return session.output.bytes(picture.bytes) }
            guard let room = session.settings.pictureSize,
                var inline = await InlinePoster.make(session.settings)
            else { return }
            let bytes = picture.bytes
            let bitmap = try await threads.run {
                Result { try bytes.withBytes { bytes in try ImageDecoders.standard.decode(bytes) } }
            }
            session.output.picture(
                inline.draw(try bitmap.get(), shape: picture.size, within: inline.room(room)))
        }
    }
}
