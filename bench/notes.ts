// Why a target is missed, by the key of the figure: edited by hand when a cause is known, told beside the miss.
const FLAT =
  'gates, session, inbox row, ledger entry and counters take more CPU than the bare server does in all, and the profile ' +
  'is flat: SQLite has a tenth of the samples, the kernel a sixth, V8 and the native driver most of the rest'

export const NOTES: Readonly<Record<string, string>> = {
  'intake.vs_bare': FLAT,
  'intake.vs_insert': FLAT,
  'intake.draining_vs_bare':
    'a turn that is answered takes five ledger entries and some ten statements more, on the same core; while the loop is ' +
    'busy only a share of what comes in is drained, and the rest when it is quiet',
}
