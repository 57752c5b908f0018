// The whole river with a Slack adapter against the fake Slack.
import { defined, type GroupPolicy } from '../../src/contract/index.ts'
import type { Timings } from '../../src/platforms/slack/config.ts'
import { createSlack } from '../../src/platforms/slack/index.ts'
import { createFakeSlack, type FakeSlackOptions } from '../../src/testing/emulate.ts'
import {
  accessOf,
  clockOf,
  type EmulatedPlatform,
  emulatedIntegration,
  openEmulatedRiver,
  type RiverOptions,
  timesOf,
} from './emulated-river.ts'

export interface SlackRiverOptions extends FakeSlackOptions, RiverOptions {
  readonly timings?: Partial<Timings>
  readonly groups?: Readonly<Record<string, Omit<GroupPolicy, 'origin'>>>
  /** Other platforms of the same river. Slack is `sl`. */
  readonly beside?: readonly EmulatedPlatform[]
}

export async function openSlackRiver(options: SlackRiverOptions = {}) {
  const { timings = {}, groups, arrangement, played, beside = [] } = options
  const clock = clockOf(options)
  const fake = await createFakeSlack({ now: () => clock.now(), ...options })
  const kate = fake.person()
  const at = (await options.through?.(fake.apiUrl)) ?? fake.apiUrl
  const slack: EmulatedPlatform = {
    integration: emulatedIntegration('sl', {
      platform: 'slack',
      options: { bot_token: 'env:BOT', app_token: 'env:APP', api_url: at },
      access: accessOf(kate.user.id, groups),
      ...defined({ textChunkLimit: options.textChunkLimit }),
    }),
    create: (deps) => createSlack(deps, { timings }),
    secrets: { 'env:BOT': fake.botToken, 'env:APP': fake.appToken },
    stop: () => fake.stop(),
  }
  const river = await openEmulatedRiver([slack, ...beside], {
    clock,
    ...timesOf(options),
    ...(arrangement === undefined ? {} : { arrangement }),
    ...(played === undefined ? {} : { played }),
  })
  return { ...river, fake, kate }
}
