// What issue 14 mends of Chorus, Telegram, notify and hosted servers.
import { requirements } from './row.ts'

export const SEED_REPAIRS = requirements(
  'Issue 14 The seeds, to the letter',
  `
built   14 I14.server-by-name        send_message to the name of a hosted server reaches it where no native integration of that name is enabled and granted
built   14 I14.server-arguments      Target, thread and text stand in the arguments that the outbound tool's own schema names, the first that it has
built   14 I14.server-mapped         outbound_arguments of an approved entry maps target, body and thread before the schema does
built   14 I14.server-no-target      A target that can be named nowhere is refused, and nothing is sent
built   14 I14.server-reply          reply uses the same mapping: chat.postMessage gets channel where the server said channel_id
built   14 I14.server-allow          Allow entries name a hosted server by its name, when a send is ordered and again when it leaves
`,
)
