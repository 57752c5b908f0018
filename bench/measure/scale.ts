// The part of the growth table without a million turns: many integrations, agents, readers, sends, queued turns and
// lines, each with a real daemon or command. growth-reads.ts measures the requests on a million turns.
import type { BenchContext } from './context.ts'
import { measureDeadDestination, measureLongQueue } from './scale/long-lanes.ts'
import { measureBinding, measureDoctor, measureReload, measureStarts } from './scale/many-integrations.ts'
import { measureReaders, measureShare } from './scale/readers.ts'
import { measureTables } from './scale/tables.ts'

type ByNumber = Readonly<Record<string, number>>

export interface ScaleFigures {
  readonly start_ms: ByNumber
  readonly readers: { readonly gap_ms: ByNumber; readonly rest_gap_ms: number }
  readonly doctor: { readonly ms: ByNumber; readonly gap_ms: number }
  readonly reload: {
    readonly kb: number
    readonly ms: number
    readonly gap_ms: number
    readonly rest_gap_ms: number
  }
  readonly binding: { readonly few_us: number; readonly many_us: number; readonly ratio: number }
  readonly share: { readonly held: number; readonly other_status: number }
  readonly dead: { readonly p50_ms: number; readonly beside_dead_p50_ms: number; readonly ratio: number }
  readonly long_queue_per_second: number
  readonly tables: { readonly few_ms: number; readonly many_ms: number; readonly a_line_ratio: number }
}

const FULL = {
  starts: [200, 400, 1_000],
  readers: [20, 100],
  reminders: 1_000,
  agents: [300, 3_000],
  bytes: 725_000,
  integrations: [10, 1_000],
  dead: 50_000,
  queued: 100_000,
  lines: [10_000, 200_000],
} as const
const QUICK = {
  starts: [20, 40, 100],
  readers: [2, 10],
  reminders: 100,
  agents: [30, 300],
  bytes: 50_000,
  integrations: [10, 100],
  dead: 500,
  queued: 500,
  lines: [100, 2_000],
} as const

export async function measureScale(context: BenchContext): Promise<ScaleFigures> {
  const of = context.options.quick ? QUICK : FULL
  return {
    start_ms: await measureStarts(context, of.starts),
    readers: await measureReaders(context, of.readers, of.reminders),
    doctor: await measureDoctor(context, of.agents),
    reload: await measureReload(context, of.bytes),
    binding: await measureBinding(context, of.integrations[0], of.integrations[1]),
    share: await measureShare(context, 100),
    dead: await measureDeadDestination(context, of.dead),
    long_queue_per_second: await measureLongQueue(context, of.queued),
    tables: await measureTables(context, of.lines[0], of.lines[1]),
  }
}

export function scaleLines(scale: ScaleFigures): string[] {
  const by = (of: ByNumber) =>
    Object.entries(of)
      .map(([many, value]) => `${Number(many).toLocaleString('en')}: ${value}`)
      .join(', ')
  const { readers, doctor, reload, binding, share, dead, tables } = scale
  return [
    `start by integrations, ms: ${by(scale.start_ms)}`,
    `longest wait by readers, ms: ${by(readers.gap_ms)} (at rest ${readers.rest_gap_ms})`,
    `doctor by agents, ms: ${by(doctor.ms)} (others waited ${doctor.gap_ms} at most)`,
    `reload of ${reload.kb} kB: ${reload.ms} ms, others waited ${reload.gap_ms} ms at most (at rest ${reload.rest_gap_ms})`,
    `a message with few and many integrations: ${binding.few_us} and ${binding.many_us} µs of CPU time, ${binding.ratio}×`,
    `one sender on all readers has ${share.held}; another is answered ${share.other_status}`,
    `a message and its answer ${dead.p50_ms} ms, beside a dead destination ${dead.beside_dead_p50_ms} ms: ${dead.ratio}×`,
    `one long conversation: ${scale.long_queue_per_second} answered a second`,
    `tables: ${tables.few_ms} and ${tables.many_ms} ms, ${tables.a_line_ratio}× a line`,
  ]
}
