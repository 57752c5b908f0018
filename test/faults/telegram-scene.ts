// A daemon that talks to Telegram. The emulator in this process plays Telegram and outlives the daemon.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createFakeTelegram, type FakeTelegram, type Person } from '../../src/testing/emulate.ts'
import type { Daemon } from './daemon.ts'
import type { Scene } from './scene.ts'

export const HOOK_SECRET = 'one-secret-for-the-hooks'

export interface TelegramScene {
  readonly fake: FakeTelegram
  readonly kate: Person
  readonly data: string
  readonly config: string
  sees(part: string): boolean
  start(): Promise<Daemon>
  /** The daemon kills itself at this point while it handles the action. Another daemon takes over. */
  dieAt(point: string, act: () => void): Promise<Daemon>
}

/** Kate may talk and approve. A signed webhook `crowd` reaches the same agent. `more` adds keys to the bot. */
export async function openTelegram(scene: Scene, more = 'mode: polling'): Promise<TelegramScene> {
  const fake = await createFakeTelegram()
  scene.onEnd(() => fake.stop())
  const data = scene.folder()
  const config = join(data, 'switchboard.yaml')
  writeFileSync(join(data, 'telegram.token'), fake.token, { mode: 0o600 })
  writeFileSync(join(data, 'hook.secret'), HOOK_SECRET, { mode: 0o600 })
  writeFileSync(
    config,
    `integrations:
  - { id: tg, platform: telegram, token: "file:telegram.token", api_root: "${fake.url}", default: true, ${more},
      access: { dm: allowlist, allow_from: ["412587349"], approvers: ["412587349"] } }
  - { id: crowd, platform: webhook, secret: "file:hook.secret", signature: plain, two_way: true }
agents:
  - id: demo
    connector: { type: demo }
    inbound_bindings: [{ plugin: telegram, instance: tg }, { plugin: webhook, instance: crowd }]
`,
  )
  const kate = fake.person()
  const start = () => scene.start({ data, config })
  return {
    fake,
    kate,
    data,
    config,
    start,
    sees: (part) => kate.sees().some((text) => text.includes(part)),
    async dieAt(point, act) {
      act()
      const doomed = scene.launch({ data, config, env: { SWITCHBOARD_CRASH_AT: point } })
      const { signal } = await doomed.exited
      expect(signal).toBe('SIGKILL')
      return start()
    },
  }
}
