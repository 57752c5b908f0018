// Why a target is missed, by the key of the figure: edited by hand when a cause is known, told beside the miss.
const FLAT =
  'some 70 us of CPU a message over the bare server, spread flat over the calls of the native driver, JSON, hashes and ' +
  'promises of gates, session, inbox row, ledger entry and counters; SQLite itself is a tenth of it, the kernel a sixth'

export const NOTES: Readonly<Record<string, string>> = {
  'intake.vs_bare': FLAT,
  'intake.vs_insert': FLAT,
  'intake.draining_vs_bare':
    'a turn that is answered takes five ledger entries and some ten statements more, on the same core; while the loop is ' +
    'busy only a share of what comes in is drained, and the rest when it is quiet',
}
