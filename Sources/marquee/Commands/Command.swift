/// One command of the program: its specification and its work.
protocol Command: SendableMetatype {
    static var specification: CommandSpecification { get }

    /// Does the work, and returns how it ended.
    /// - Throws: `UsageError` or `Failure` when the command could do nothing.
    static func run(_ session: Session) async throws -> ExitStatus
}

/// Every command, the default first.
let commands: [any Command.Type] = [
    ListCommand.self, ShowCommand.self, FetchCommand.self, PrewarmCommand.self, CacheCommand.self,
    BrowseCommand.self, AddCommand.self, EditCommand.self, RateCommand.self, RemoveCommand.self,
    ImportCommand.self, ExportCommand.self, BackupCommand.self, UploadCommand.self, ServeCommand.self,
    PictureCommand.self,
    SignCommand.self, TokenCommand.self, PurgeCommand.self, StatusCommand.self, JobsCommand.self,
    DoctorCommand.self,
    CompletionsCommand.self, ManCommand.self,
    HelpCommand.self, VersionCommand.self,
]

extension CommandSpecification {
    /// The specifications of every command, the default first.
    static let all = commands.map { $0.specification }
}
