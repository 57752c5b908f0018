// The module of the platform `slack`: what Switchboard knows before it runs one.
import { type PlatformModule, SwitchboardError } from '../../contract/index.ts'
import { slackOptions } from './config.ts'
import { pasteLines } from './manifest.ts'

/** `slack://`, or the tokens in any order: `slack://xoxb-…/xapp-…`. */
function fromLine(rest: string): Readonly<Record<string, string>> {
  const keys: Readonly<Record<string, string>> = { 'xoxb-': 'bot_token', 'xapp-': 'app_token' }
  const answers: Record<string, string> = {}
  for (const part of rest.split('/').filter((one) => one !== '')) {
    const key = keys[part.slice(0, 5)]
    if (key === undefined || answers[key] !== undefined)
      throw new SwitchboardError(
        'input_invalid',
        'slack:// takes one bot token (xoxb-) and one app-level token (xapp-)',
      )
    answers[key] = part
  }
  return answers
}

export const slackModule: PlatformModule = {
  name: 'slack',
  options: slackOptions,
  docs: 'docs/platforms/slack.md',
  title: 'Slack',
  defaultAccess: { dm: 'pairing' },
  setup: {
    questions: [
      { key: 'bot_token', flag: 'bot-token', ask: 'bot token (xoxb-)', secret: true },
      { key: 'app_token', flag: 'app-token', ask: 'app-level token (xapp-)', secret: true },
    ],
    try: async (options, { clock }) => (await import('./try-token.ts')).tryToken(options, clock),
    paste: pasteLines,
    schemes: { slack: fromLine },
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
