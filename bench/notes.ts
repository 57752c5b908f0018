// Why a target is missed, by the key of the figure. People edit it when a cause is known. Reports show it beside the
// miss.
const FLAT =
  'gates, session, inbox row, ledger entry and counters take more CPU than the bare server does in all, and the profile ' +
  'is flat: SQLite has a tenth of the samples, the kernel a sixth, V8 and the native driver most of the rest'

const HOSTED =
  'more than half of the time of a message is its commit: the row and its unique index, the entry of the ledger, the sync; ' +
  'the bare client stores nothing'

export const NOTES: Readonly<Record<string, string>> = {
  'chorus.one':
    'a relay in a process of its own that writes and syncs both words, and does nothing else, takes more than five times the ' +
    'bare loop itself (a row of its own), which is one process and stores nothing; the rest is CPU time of many small steps',
  'channel.from_inbox':
    'handed is committed before a message is written, and seen when the host shows that it has it: two entries of the ' +
    'ledger and two changes of a row take more than four times what a bare server takes for a push',
  'cluster.end_to_end':
    'node and database together take 1.8 times the CPU of SQLite a message: rows cross between two processes as text, each ' +
    'change of a turn or a send writes all its indexes anew, and one waits for the other for a part of each commit',
  'cluster.received':
    'a commit waits three times for another process, and what the node alone needs to write and read rows as text is more ' +
    'than all of SQLite',
  'claims.vs_sqlite':
    'one caller that waits for each commit: seven round trips and two syncs for 32 lanes, of which nothing overlaps',
  'cluster.cpu_3_vs_1':
    'two of three messages come in where their lane is not held: a commit there, a hint, a commit of the holder; each of ' +
    'three times as many commits takes as many statements, and each node compiles the same code',
  'mcp.hosted_1': HOSTED,
  'mcp.hosted_50': HOSTED,
  'intake.vs_bare': FLAT,
  'intake.vs_insert': FLAT,
  'intake.draining_vs_bare':
    'a turn that is answered takes five ledger entries and some ten statements more, on the same core; while the loop is ' +
    'busy only a share of what comes in is drained, and the rest when it is quiet',
}
