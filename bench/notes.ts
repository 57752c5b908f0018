// Why a target is missed, by the key of the figure: edited by hand when a cause is known, told beside the miss.
const PAGES =
  'a commit dirties pages in proportion to its messages: the unique key and the index of open turns are spread over the ' +
  'conversations, so that several times the bytes of one insert go to the log, and again at the checkpoint'

export const NOTES: Readonly<Record<string, string>> = {
  'intake.vs_bare': PAGES,
  'intake.vs_insert': PAGES,
  'intake.draining_vs_bare':
    'a turn that is answered takes some fifteen statements more (lane, hand-over, answer, send, receipt, release) and ' +
    'five ledger entries, most of them run for one lane at a time, on the same core as the intake',
}
