// The command `switchboard emulate slack`: the fake Slack with one person in it, and the configuration for it.
import type { StartEmulator } from '../../contract/index.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import { slackControlServer } from './control.ts'
import { createFakeSlack } from './fake-slack.ts'
import { shownText } from './person.ts'
import type { FakeMessage } from './world.ts'

/** The calls of the bot that the emulator prints. The rest is housekeeping. */
const SHOWN: readonly string[] = [
  'chat.postMessage',
  'chat.update',
  'chat.delete',
  'reactions.add',
  'files.completeUploadExternal',
]

export const emulateSlack: StartEmulator = async ({ port, faults, onBot }) => {
  const fake = await createFakeSlack({
    port,
    faults: parseFaultRules(faults),
    otherwise: slackControlServer,
    onCall(method, params, answer) {
      if (!SHOWN.includes(method)) return
      const { message } = answer as { readonly message?: FakeMessage }
      const said = answer.ok
        ? message
          ? shownText(message)
          : String(params.name ?? params.initial_comment ?? '')
        : `refused: ${answer.error}`
      onBot(`${method}: ${said}`)
    },
  })
  const kate = fake.person()
  fake.person({ channel: 'C0GENERAL' })
  return {
    url: fake.url,
    token: fake.botToken,
    integration: {
      id: 'slack',
      platform: 'slack',
      bot_token: 'env:SLACK_BOT_TOKEN',
      app_token: 'env:SLACK_APP_TOKEN',
      api_url: fake.apiUrl,
    },
    environment: {
      SLACK_BOT_TOKEN: fake.botToken,
      SLACK_APP_TOKEN: fake.appToken,
      SLACK_SIGNING_SECRET: fake.signingSecret,
    },
    more: [
      `curl ${fake.url}/_person -d '{"text":"hello"}'`,
      `curl ${fake.url}/_channel/${kate.channel.id}`,
      `curl ${fake.url}/_link -d '{"deaf":true}'   # the link stands and carries nothing`,
    ],
    says: (text) => void kate.says(text),
    taps: (label) => void kate.taps(label),
    stop: () => fake.stop(),
  }
}
