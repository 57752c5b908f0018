// What issue 13 demands of the outlet and of the pieces that the river shares.
import { requirements } from './row.ts'

export const ONE_DOOR = requirements(
  'Issue 13 One door out',
  `
built   13 I13.one-outlet        store.enqueue is called from the outlet alone; a table names who calls every other verb that is handed rows or effects (one file, but two for decide and receive), and one who puts rows together
built   13 I13.settle-with-say   What an agent says for a turn, by its connector or by a tool, and the turn's move are one commit, made in one place
built   13 I13.result-words      The words of a send's result are made in one file
built   13 I13.lane-keeper       Dispatcher and sender hold their lanes by one keeper: the same lease, renewal, rest and release
built   13 I13.apply-chain       A new configuration is applied by one serial chain
built   13 I13.token-bucket      There is one token bucket in the code, and one in SQL for what nodes share
built   13 I13.bounded-map       There is one bounded map
built   13 I13.core-no-platform  The core names no platform
built   13 I13.form-once         What form a message has (verdict, command, button) is recognised once
built   13 I13.linear-patterns   Every pattern of src/ and web/ takes linear time, but for those whose text is short or our own, with the reason
built   13 I13.clock-back-limit  A limit whose clock was set back is counted from there: nobody waits until the clock has caught up
`,
)
