// What issue 35 demands: channel hosts and hosted servers.
import { requirements } from '../row.ts'

export const EDGES_CHANNELS = requirements(
  'Issue 35 Channel hosts and hosted servers',
  `
built   35 I35.a5                    Doubles of the official plugins telegram, discord, imessage and fakechat declare exactly their tools and capabilities and are hosted in the system tests; the real ones where SWITCHBOARD_PLUGINS_DIR names a copy
built   35 I35.b18                   A reply to a turn of a server whose tool has no target, as fakechat, is sent while one conversation was shown, else refused, and the turn stays open
built   35 I35.b20                   One-way turns have a window of their own and do not stop after 256; ack covers the earlier ones of that chat
built   35 I35.b22                   Rate knobs above 20/s and 0/0 hold where the server is the sender, and doctor names the key that was drawn from
built   35 I35.b24                   A channel host reaches tools of a Chorus service by service_tools and call_service_tool
built   35 I35.b26                   Channel twins: a turn that line A answered does not wait 30 s for line B
built   35 I35.b45-skip-at-boot      A gate that skips a server at boot is logged as Skip
built   35 I35.b45-one-way-servers   Answers to hosted one-way servers are no failed sends
built   35 I35.b45-notify-channel    notify_on: completion of a channel host is warned of in check, or fires on ack
built   35 I35.b45-plugin-demo       The plugin starts no demo daemon in a folder without a file
built   35 I35.left-chain-status         In a chain a tool call is told by its event alone, with no status beside it
`,
)
