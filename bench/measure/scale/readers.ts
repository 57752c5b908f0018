// Readers of a hook's stream: many of them while many sends wait, and one sender that takes all the places it can.
import { type ClientRequest, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { openGaps } from '../../load/loop-gap.ts'
import { startSwitchboard } from '../../servers/switchboard.ts'
import { rounded } from '../../statistics.ts'
import type { BenchContext } from '../context.ts'
import { agent, bound, makeLargeFolder, seed, UNLIMITED, webhook } from './folder.ts'

const HOUR_MS = 3_600_000

/** The longest wait of others in ms, by the number of readers: while they connect, and during two of their polls. */
export async function measureReaders(context: BenchContext, sizes: readonly number[], reminders: number) {
  const watchMs = context.options.quick ? 1_000 : 12_000
  const folder = makeLargeFolder(context, 'readers', {
    tunables: UNLIMITED,
    integrations: [webhook('bench', { signature: 'plain' })],
    agents: [agent('bench', [bound('bench')])],
  })
  await seed(context, folder, {
    sends: { integration: 'bench', many: reminders, conversations: reminders, dueInMs: HOUR_MS },
  })
  const found: Record<string, number> = {}
  let rest = 0
  for (const many of sizes) {
    const server = await startSwitchboard(folder, 'any')
    const gaps = await openGaps(server.url)
    rest = (await gaps.during(() => wait(1_000))).gapMs
    let open: readonly Stream[] = []
    try {
      const watched = await gaps.during(async () => {
        open = await Promise.all(
          Array.from({ length: many }, () =>
            openStream(server.url, 'bench', { 'x-webhook-secret': context.secret }),
          ),
        )
        await wait(watchMs)
      })
      const refused = open.filter(({ status }) => status !== 200).length
      if (refused > 0) throw new Error(`${refused} of ${many} readers were not let in`)
      found[many] = rounded(watched.gapMs, 0)
      context.say(
        `${reminders} reminders wait, ${many} readers: others waited ${found[many]} ms at most (${Math.round(rest)} before)`,
      )
    } finally {
      for (const { close } of open) close()
      gaps.close()
      await server.stop()
    }
  }
  return { gap_ms: found, rest_gap_ms: rounded(rest, 0) }
}

/** One sender asks for `places` streams. Returns how many it gets, and the answer to another sender then. */
export async function measureShare(context: BenchContext, places: number) {
  const folder = makeLargeFolder(context, 'share', {
    tunables: UNLIMITED,
    integrations: [
      {
        id: 'desk',
        platform: 'webhook',
        sender_header: 'X-Sender',
        two_way: true,
        access: { allow_from: ['greedy', 'other'] },
      },
    ],
    agents: [agent('bench', [bound('desk')])],
  })
  const server = await startSwitchboard(folder, 'any')
  const open: Stream[] = []
  try {
    for (let at = 0; at < places; at++)
      open.push(await openStream(server.url, 'desk', { 'x-sender': 'greedy' }))
    const other = await openStream(server.url, 'desk', { 'x-sender': 'other' })
    open.push(other)
    const held = open.filter(({ status }) => status === 200).length - (other.status === 200 ? 1 : 0)
    context.say(`one sender asked for ${places} streams and has ${held}; another is answered ${other.status}`)
    return { held, other_status: other.status }
  } finally {
    for (const { close } of open) close()
    await server.stop()
  }
}

interface Stream {
  readonly status: number
  close(): void
}

function openStream(url: string, hook: string, headers: Readonly<Record<string, string>>): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asking: ClientRequest = request(`${url}/hooks/${hook}/events`, { headers, agent: false })
    asking.on('response', (response) => {
      response.on('error', () => undefined).resume()
      resolve({ status: response.statusCode ?? 0, close: () => asking.destroy() })
    })
    asking.on('error', reject)
    asking.end()
  })
}
