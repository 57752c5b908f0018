// The whole river with a Slack adapter against the fake Slack; where agents are played, with a Telegram beside it.
import type { GroupPolicy } from '../../src/contract/index.ts'
import type { Timings } from '../../src/platforms/slack/config.ts'
import { createSlack } from '../../src/platforms/slack/index.ts'
import { createTelegram } from '../../src/platforms/telegram/index.ts'
import { createFakeSlack, createFakeTelegram, type FakeSlackOptions } from '../../src/testing/emulate.ts'
import {
  accessOf,
  clockOf,
  type EmulatedPlatform,
  emulatedIntegration,
  openEmulatedRiver,
  type RiverOptions,
} from './emulated-river.ts'

/** Agents that are played are of Slack (`sl`) and Telegram (`tg`), both of which then stand. */
export interface SlackRiverOptions extends FakeSlackOptions, RiverOptions {
  readonly timings?: Partial<Timings>
  readonly groups?: Readonly<Record<string, Omit<GroupPolicy, 'origin'>>>
}

export async function openSlackRiver(options: SlackRiverOptions = {}) {
  const { timings = {}, groups, arrangement, played } = options
  const clock = clockOf(options)
  const fake = await createFakeSlack({ now: () => clock.now(), ...options })
  const kate = fake.person()
  const slack: EmulatedPlatform = {
    integration: emulatedIntegration('sl', {
      platform: 'slack',
      options: { bot_token: 'env:BOT', app_token: 'env:APP', api_url: fake.apiUrl },
      access: accessOf(kate.user.id, groups),
    }),
    create: (deps) => createSlack(deps, { timings }),
    secrets: { 'env:BOT': fake.botToken, 'env:APP': fake.appToken },
    stop: () => fake.stop(),
  }
  const beside = played === undefined ? null : await telegramBeside()
  const platforms = beside === null ? [slack] : [slack, beside.platform]
  const river = await openEmulatedRiver(platforms, {
    clock,
    ...(arrangement === undefined ? {} : { arrangement }),
    ...(played === undefined ? {} : { played }),
  })
  return {
    ...river,
    fake,
    kate,
    /** Kate at Telegram; throws where there is none. */
    get kateThere() {
      if (beside === null) throw new Error('there is no Telegram in this river')
      return beside.kate
    },
  }
}

async function telegramBeside() {
  const fake = await createFakeTelegram()
  const kate = fake.person()
  const platform: EmulatedPlatform = {
    integration: emulatedIntegration('tg', {
      platform: 'telegram',
      options: { token: 'env:TELEGRAM', api_root: fake.url },
      access: accessOf(String(kate.user.id)),
    }),
    create: (deps) => createTelegram(deps, { timings: { chatIntervalMs: 10, pollTimeoutMs: 1_000 } }),
    secrets: { 'env:TELEGRAM': fake.token },
    stop: () => fake.stop(),
  }
  return { kate, platform }
}
