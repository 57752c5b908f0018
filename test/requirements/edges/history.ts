// What issue 35 demands: restarts change no order.
import { requirements } from '../row.ts'

export const EDGES_HISTORY = requirements(
  'Issue 35 Restarts change no order',
  `
built   35 I35.b12a               A Slack message written while the link changes hands comes in order: history is walked at connect and live events of that place wait for it, 30 s at most
built   35 I35.b32                A place is complete only when every listing succeeded and every page moved on; else it is behind with the reason
built   35 I35.b34                A reload of access reconnects nothing and forgets no last in or out
built   35 I35.b44                The pairing answer stands below its message, and takeover marks merge only where no words lie between
built   35 I35.b45-slack-edit     Editing a waiting Slack message gives one answer
built   35 I35.b45-slack-events   Slack in events mode does not show up while its API is dead
built   35 I35.left-discord-long   A Discord place without a known message is read whole, however long it is, before it counts as complete
`,
)
