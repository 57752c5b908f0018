// What issue 35 demands: one list of health findings.
import { requirements } from '../row.ts'

export const EDGES_HEALTH = requirements(
  'Issue 35 One list of health findings',
  `
built   35 I35.a4             Every way in which a message cannot arrive or an answer cannot leave is a row of the health table: doctor exits 1 and names it with its remedy, status and console use the same word, and check warns where the file already tells
built   35 I35.a4-table        Each row of the health table is found where it holds, with its word and its remedy, and nothing is found where nothing is wrong
built   35 I35.a4-unbound      check warns of an agent without bindings or schedules by the same word as doctor
built   35 I35.a4-well        "All is well" appears only if no row of the health table holds
built   35 I35.a4-limits       Each message that a limit refused within the last hour counts, whether or not a row of it was kept; metrics ask for no findings
built   35 I35.a4-reference   The rows of the health table are in the generated reference
`,
)
