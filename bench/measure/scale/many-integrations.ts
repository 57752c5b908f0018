// Many integrations and agents: the start, the cost of finding the right one for a message, doctor, and a reload.
import { rmSync } from 'node:fs'
import { openGaps } from '../../load/loop-gap.ts'
import { probeOf } from '../../probe.ts'
import { HOOK_PATH, startSwitchboard } from '../../servers/switchboard.ts'
import { median, rounded } from '../../statistics.ts'
import type { BenchContext } from '../context.ts'
import { CONNECTIONS, PEOPLE } from '../intake.ts'
import { timeToReady } from '../ready.ts'
import {
  agent,
  ask,
  bound,
  type Config,
  makeLargeFolder,
  manyIntegrations,
  UNLIMITED,
  webhook,
  writeConfig,
} from './folder.ts'

const STARTS = 3
const LOOKS = 3
const MESSAGES = 6_000
/** The least bytes of an agent in such a file. */
const AGENT_BYTES = 180

/** Milliseconds until ready, by the number of integrations. */
export async function measureStarts(context: BenchContext, sizes: readonly number[]) {
  const found: Record<string, number> = {}
  for (const many of sizes) {
    const folder = makeLargeFolder(context, `start-${many}`, manyIntegrations(many))
    const times: number[] = []
    for (let at = 0; at < STARTS; at++) times.push(await timeToReady(folder))
    found[many] = rounded(median(times), 0)
    context.say(`start with ${many} integrations: ${found[many]} ms`)
  }
  return found
}

/** CPU time per message, by the number of integrations. It alternates, and compares the two runs of each round. */
export async function measureBinding(context: BenchContext, few: number, many: number) {
  const turns = context.options.quick ? 1 : 3
  const all: { readonly few: number; readonly many: number }[] = []
  for (let turn = 0; turn < turns; turn++) {
    const first = await messageCost(context, few)
    all.push({ few: first, many: await messageCost(context, many) })
  }
  const found = {
    [few]: rounded(median(all.map((one) => one.few)), 1),
    [many]: rounded(median(all.map((one) => one.many)), 1),
    ratio: rounded(median(all.map((one) => one.many / one.few)), 3),
  }
  context.say(
    `a message with ${few} and with ${many} integrations: ${found[few]} and ${found[many]} µs of CPU time`,
  )
  return { few_us: found[few] ?? 0, many_us: found[many] ?? 0, ratio: found.ratio ?? 0 }
}

async function messageCost(context: BenchContext, integrations: number): Promise<number> {
  const folder = makeLargeFolder(context, `binding-${integrations}`, manyIntegrations(integrations))
  const server = await startSwitchboard(folder)
  const messages = Math.min(MESSAGES, context.options.messages)
  try {
    const measured = await context.load.run(
      {
        ports: [Number(new URL(server.url).port)],
        path: HOOK_PATH,
        scheme: 'github',
        secret: context.secret,
        people: PEOPLE,
        connections: CONNECTIONS,
        warmUp: Math.min(2_000, messages),
        messages,
        from: 1,
      },
      probeOf([server.pid]),
    )
    // If the kernel does not count CPU time, elapsed time is used.
    return measured.cpuMicrosPerMessage ?? 1e6 / measured.perSecond
  } finally {
    await server.stop()
    rmSync(folder.dataDir, { recursive: true, force: true })
  }
}

/** Each agent has its own conversation on one of a hundred hooks. */
function manyAgents(many: number, more = ''): Config {
  const hooks = Array.from({ length: Math.min(100, many) }, (_, at) => `hook-${at}`)
  return {
    tunables: UNLIMITED,
    integrations: hooks.map((id) => webhook(id)),
    agents: Array.from({ length: many }, (_, at) =>
      agent(`agent-${at}`, [bound(`hook-${at % hooks.length}`, { conversations: [`place-${at}${more}`] })]),
    ),
  }
}

/** Milliseconds per look, by the number of agents, and the longest wait of others meanwhile. */
export async function measureDoctor(context: BenchContext, sizes: readonly number[]) {
  const found: Record<string, number> = {}
  let gap = 0
  for (const many of sizes) {
    const folder = makeLargeFolder(context, `doctor-${many}`, manyAgents(many))
    const server = await startSwitchboard(folder, 'any')
    try {
      await ask(folder, server.url, 'doctor')
      const gaps = await openGaps(server.url)
      const times: number[] = []
      for (let at = 0; at < LOOKS; at++) {
        const looked = await gaps.during(() => ask(folder, server.url, 'doctor'))
        times.push(looked.result.ms)
        gap = Math.max(gap, looked.gapMs)
      }
      gaps.close()
      found[many] = rounded(median(times), 0)
    } finally {
      await server.stop()
    }
    context.say(`doctor with ${many} agents: ${found[many]} ms`)
  }
  return { ms: found, gap_ms: rounded(gap, 0) }
}

/** Changes a whole file of this size and reloads it. */
export async function measureReload(context: BenchContext, bytes: number) {
  const folder = makeLargeFolder(context, 'reload', manyAgents(1))
  let many = Math.floor(bytes / AGENT_BYTES)
  let size = writeConfig(folder.configFile, manyAgents(many))
  for (; size < bytes; many += 50) size = writeConfig(folder.configFile, manyAgents(many + 50))
  const server = await startSwitchboard(folder, 'any')
  try {
    const gaps = await openGaps(server.url)
    const rest = await gaps.during(() => new Promise((resolve) => setTimeout(resolve, 1_000)))
    writeConfig(folder.configFile, manyAgents(many, 'x'))
    const again = await gaps.during(() => ask(folder, server.url, 'reload', 'POST'))
    gaps.close()
    const found = {
      kb: Math.round(size / 1_000),
      ms: rounded(again.result.ms, 0),
      gap_ms: rounded(again.gapMs, 0),
      rest_gap_ms: rounded(rest.gapMs, 0),
    }
    context.say(`reload of ${found.kb} kB: ${found.ms} ms, others waited ${found.gap_ms} ms at most`)
    return found
  } finally {
    await server.stop()
  }
}
