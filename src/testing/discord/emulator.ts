// The command `switchboard emulate discord`: the fake Discord with one person in it, and the configuration for it.
import type { StartEmulator } from '../../contract/index.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import { discordControlServer } from './control.ts'
import { createFakeDiscord } from './fake-discord.ts'
import { shownText } from './person.ts'
import { type FakeMessage, GENERAL_ID } from './world.ts'

/** The calls of the bot that the emulator prints. The rest is housekeeping. */
const SHOWN: readonly string[] = [
  'create-message',
  'edit-message',
  'delete-message',
  'create-reaction',
  'create-thread',
  'thread-from-message',
]

export const emulateDiscord: StartEmulator = async ({ port, faults, onBot }) => {
  const fake = await createFakeDiscord({
    port,
    faults: parseFaultRules(faults),
    otherwise: discordControlServer,
    onCall(name, body, { status, body: answer }) {
      if (!SHOWN.includes(name)) return
      const isMessage = typeof (answer as { readonly content?: unknown } | undefined)?.content === 'string'
      const said = isMessage ? shownText(answer as FakeMessage) : String(body.name ?? '')
      onBot(`${name}: ${status < 300 ? said : `refused with ${status}`}`)
    },
  })
  const kate = fake.person()
  fake.person({ channel: GENERAL_ID })
  return {
    url: fake.url,
    token: fake.token,
    integration: {
      id: 'discord',
      platform: 'discord',
      token: 'env:DISCORD_BOT_TOKEN',
      api_url: fake.apiUrl,
    },
    environment: { DISCORD_BOT_TOKEN: fake.token },
    more: [
      `curl ${fake.url}/_person -d '{"text":"hello"}'`,
      `curl ${fake.url}/_channel/${kate.user.id}`,
      `curl ${fake.url}/_link -d '{"invalid":"lost"}'   # the session is refused, nothing is replayed`,
    ],
    says: (text) => void kate.says(text),
    taps: (label) => void kate.taps(label),
    stop: () => fake.stop(),
  }
}
