// What Switchboard knows of the platform `slack` before it runs one.
import type { PlatformModule } from '../../contract/index.ts'
import { slackOptions } from './config.ts'
import { pasteLines } from './manifest.ts'

export const slackModule: PlatformModule = {
  name: 'slack',
  options: slackOptions,
  docs: 'docs/platforms/slack.md',
  defaultAccess: { dm: 'pairing' },
  setup: {
    questions: [
      { key: 'bot_token', flag: 'bot-token', ask: 'bot token (xoxb-)', secret: true },
      { key: 'app_token', flag: 'app-token', ask: 'app-level token (xapp-)', secret: true },
    ],
    try: async (options, { clock }) => (await import('./try-token.ts')).tryToken(options, clock),
    paste: pasteLines,
  },
  doctor: ({ id, options }, { publicUrl }) =>
    options.mode === 'events' && publicUrl === null
      ? [
          {
            gate: 'events',
            pass: true,
            flagged: true,
            reason: `Slack must be told where to post: set the request URL to https://HOST/hooks/${id}`,
            key: 'server.public_url',
          },
        ]
      : [],
  create: async (deps) => (await import('./index.ts')).createSlack(deps),
}
