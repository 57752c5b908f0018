// The whole river with a Discord adapter against the fake Discord.
import { defined, type GroupPolicy } from '../../src/contract/index.ts'
import type { Timings } from '../../src/platforms/discord/config.ts'
import { createDiscord } from '../../src/platforms/discord/index.ts'
import { createFakeDiscord, type FakeDiscordOptions } from '../../src/testing/emulate.ts'
import {
  accessOf,
  clockOf,
  emulatedIntegration,
  openEmulatedRiver,
  type RiverOptions,
  timesOf,
} from './emulated-river.ts'

export interface DiscordRiverOptions extends FakeDiscordOptions, RiverOptions {
  readonly timings?: Partial<Timings>
  readonly groups?: Readonly<Record<string, Omit<GroupPolicy, 'origin'>>>
}

export async function openDiscordRiver(options: DiscordRiverOptions = {}) {
  const { timings = {}, groups, arrangement, played } = options
  const clock = clockOf(options)
  const fake = await createFakeDiscord({ now: () => clock.now(), ...options })
  const kate = fake.person()
  const at = (await options.through?.(fake.apiUrl)) ?? fake.apiUrl
  const river = await openEmulatedRiver(
    [
      {
        integration: emulatedIntegration('dc', {
          platform: 'discord',
          options: { token: 'env:TOKEN', api_url: at },
          access: accessOf(kate.user.id, groups),
          ...defined({ textChunkLimit: options.textChunkLimit }),
        }),
        create: (deps) => createDiscord(deps, { timings }),
        secrets: { 'env:TOKEN': fake.token },
        stop: () => fake.stop(),
      },
    ],
    {
      clock,
      ...timesOf(options),
      ...(arrangement === undefined ? {} : { arrangement }),
      ...(played === undefined ? {} : { played }),
    },
  )
  return { ...river, fake, kate }
}
