/// `marquee help json`: the members that `--json` prints. A test compares them with the output.
enum JSONHelp {
    /// The command line that prints it.
    static let words = ["help", "json"]

    static let text = """
        What --json prints. Members without a value are left out. Times are in
        milliseconds, sizes in bytes. The data is on standard output and nothing else;
        messages are on standard error.

        fetch, prewarm, show FILE, picture: an object a line for each, as it ends
          url           the address, without credentials; or the film that is not there
          outcome       network    fetched now
                        resumed    fetched, but for what an earlier run had brought
                        memory, disk  it was there, and fresh
                        revalidated   it was there, and the server says it holds
                        stale      it was there; the server fails, or is asked now
                        local      a file, or a data URL
                        failed     see error
          status        of the answer: 200, 404, ...
          bytes         the file's size; picture: of the file it made, as all below
          format        jpeg, png, ...
          width         in pixels
          height        in pixels
          milliseconds  from the transfer's start to its end
          queued        how long it waited for its slot before
          sha256        of the file, with --checksum
          file          where fetch -o or picture -o has it
          error         only after a failure
          error.code    a short, stable name: the article Errors lists them
          error.message one line for people

        film: list (an array), show, add, edit, rate and remove (an object) print it
          id            the film's name in its catalogue
          title
          originalTitle where it differs
          year
          director
          country
          minutes
          genres        an array
          overview
          score         0 to 10
          poster        its address; after a change as the service gives it
          media         the film's file or address, as the catalogue has it
          rating        the mean of the votes, where there are any
          votes         how many
          created_at    when it came into its library: RFC 3339, UTC
          updated_at    when it was changed last
          cached        list: whether the poster is in the cache
          fetch         show: what became of the poster, with the members of fetch

        doctor: one object
          findings      an array
          findings.name    what was looked at: terminal, cache, ...
          findings.level   ok, warning or problem
          findings.text    how it is
          findings.advice  what to do about it

        cache info: one object
          path          the folder
          entries       how many files are cached
          bytes         their size
          limit         how large they may become
          newerEntries  files of a later version, which are left alone
          hits          look-ups that found something, in all runs so far
          misses        look-ups that did not
          corrupt       files that were wrong, and removed
          faults        what went wrong just now
          hosts         an array: the same for each host
          hosts.host    its name
          hosts.entries
          hosts.bytes
          hosts.hits
          hosts.misses
          hosts.stores  files that were stored
          hosts.corrupt

        cache verify, trim, clear: one object
          entries       what is left
          bytes
          removedEntries  what was removed
          removedBytes

        cache path: one object
          path          the folder

        jobs, prewarm --detach: an object a line for each job
          name
          state         running, stopped (killed), done, failed, cancelled, or
                        waiting-network, waiting-other-network, waiting-memory
          total         how many images it has
          done          how many have come to an end, those that failed included
          failed        how many of them failed
          status        what it ended with, as an exit status
          process       its number, while it runs

        import: one object
          library       the library's file
          added         films that are new there
          replaced      films that took the place of others, with --replace
          unchanged     films that were there already
          skipped       films that were not taken, with --skip
          leftOut       films that are not right
          posters       posters that are stored in the library

        upload: one object
          url           where the answer came from, after redirects
          method        PUT or POST
          outcome       sent, for an answer of 2xx; else failed
          status        of the answer
          sent          how long the body is that was sent
          bytes         how long the answer's body is
          type          its Content-Type
          location      where the server has it now, if it says so
          answer        the answer's body, if it is text
          milliseconds  from the first byte sent, all tries together
          sha256        of the file that was sent, with --checksum
          error         only after a failure
          error.code    a short, stable name
          error.message one line for people

        serve: one object, as soon as it listens
          url           the address, which --catalogue takes
          admin         the address of health and metrics, with --admin

        sign: one object
          url           the signed address, or its path where --base is not given
        """
}
