import Films
import TerminalGraphics

/// `marquee help json`: the members that `--json` prints. A test compares them with the output.
enum JSONHelp {
    static let text = """
        What --json prints. Members without a value are left out. Times are in
        milliseconds, sizes in bytes. Standard output has only the data; messages go to
        standard error.

        fetch, prewarm, show FILE, picture: one object on each line, as each ends
          url           the address, without credentials; or the unknown film
          outcome       network    fetched now
                        resumed    the rest of a partial body was fetched
                        memory, disk  cached, and fresh
                        revalidated   cached, and confirmed by the server
                        stale      cached, but not fresh; the server has failed, or
                                   is being asked
                        local      a file, or a data URL
                        failed     see error
          status        the answer's status: 200, 404, ...
          bytes         the file's size; with picture, this and all below are of the
                        picture
          format        jpeg, png, ...
          width         in pixels
          height        in pixels
          milliseconds  the time of the transfer
          queued        the time in the queue before it
          sha256        the file's checksum, with --checksum
          damage        what a damaged picture lacks, and where
          file          the path of the file, with -o
          error         only after a failure
          error.code    a short, stable name: the article Errors lists them
          error.message one line for people

        film: from list (an array); from show, add, edit, rate and remove (one object)
        \(film)
          cached        list: whether the poster is in the cache
          marks         list: your marks: seen, favourite, to-watch
          own_rating    list: your own rating, 1 to 10
          versions      in a folder: those of the film, if there are several
          versions.title   4K, ...
          versions.media   the address
          episodes      of a series in a folder: an array
          episodes.season  its season; 0 for specials
          episodes.number  its number, if it is known
          episodes.title   its title
          episodes.media   its address
          fetch         show: the poster's result, with the members of fetch

        doctor: one object
          findings      an array
          findings.name    the checked part: terminal, cache, ...
          findings.level   ok, warning or problem
          findings.text    its state
          findings.advice  what to do

        cache info: one object
          path          the folder
          entries       the number of cached files
          bytes         their size
          limit         the limit of their size
          newerEntries  files of a newer version of marquee, which are kept
          hits          lookups that found a file, in all runs so far
          misses        lookups that found none
          corrupt       corrupt files, which were removed
          faults        failed disk operations of this command
          hosts         an array: the files of each host
          hosts.host    the host's name
          hosts.entries
          hosts.bytes

        cache verify, trim, clear: one object
          entries       the remaining files
          bytes
          removedEntries  the removed files
          removedBytes

        cache path: one object
          path          the folder

        jobs: an array; with cancel and resume, and prewarm --detach: one object
          name
          state         running, stopped (killed), done, failed, cancelled, or
                        waiting-network, waiting-other-network, waiting-memory
          total         the number of images
          done          the number of finished images, failed ones included
          failed        the number of failed images
          status        its exit status, after its end
          process       its process number, while it runs

        import: one object
          library       the library's file
          added         new films
          replaced      replaced films, with --replace
          unchanged     films that the library had already
          skipped       films whose id was taken, with --skip
          leftOut       invalid films
          posters       posters stored in the library

        upload: one object
          url           the address that answered, after redirects
          method        PUT or POST
          outcome       sent for a 2xx answer, else failed
          status        the answer's status
          sent          the size of the sent body
          bytes         the size of the answer's body
          type          the answer's Content-Type
          location      the address of the stored file, if the server gives it
          answer        the answer's body, if it is text
          milliseconds  the time from the first sent byte, over all tries
          sha256        the sent file's checksum, with --checksum
          error         only after a failure
          error.code    a short, stable name
          error.message one line for people

        serve: one object, when it listens
          url           the address, for --catalogue
          admin         the address of health and metrics, with --admin

        status: one object; with --watch one on each line
          reach         none, local or internet
          link          wired, wifi, cellular or other
          interface     the name of the network interface

        token: one object
          address       where the service listens
          token         for Authorization: Bearer

        sign: one object
          url           the signed address, or its path without --base

        version: one object
          version       the program's
        """

    /// The members of a film, a line each.
    private static let film = FilmMember.allCases.map { member in
        let help = member.definition.help
        let name = help.isEmpty ? member.name : TerminalText.padded(member.name, toWidth: 14)
        return "  \(name)\(help)"
    }.joined(separator: "\n")
}
