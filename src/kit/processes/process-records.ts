// Records of running processes as files, one per launch, written before the start and removed when the family is gone.
// The next daemon ends what a killed daemon left running. It finds processes by pid and start time and by the mark in
// their environment, never by name: a program of the same name may belong to the user.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, Logger } from '../../contract/index.ts'
import { bootId, isGroupAlive, markedBy, startTimeOf } from './proc-table.ts'

export interface ProcessRecord {
  /** The random value of MARK_NAME in its environment. */
  readonly mark: string
  /** Null until it was started. Then only the mark finds it. */
  readonly pid: number | null
  readonly start: string | null
  readonly boot: string
  /** For people. */
  readonly name: string
}

export interface ProcessRecords {
  put(record: ProcessRecord): void
  remove(mark: string): void
}

const MARK = /^[0-9a-f]{32}$/
const LOOK_MS = 50
const KILL_LOOKS = 40

export function createProcessRecords(folder: string): ProcessRecords {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const fileOf = (mark: string) => join(folder, `${mark}.json`)
  return {
    put(record) {
      const file = fileOf(record.mark)
      // Renamed when complete, because half a file would be no record.
      writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    },
    remove: (mark) => rmSync(fileOf(mark), { force: true }),
  }
}

/**
 * Ends the processes that a folder's records name, and removes the records. The caller owns the folder. Resolves with
 * the number of processes that were alive. One that cannot be ended is reported and stays recorded.
 */
export async function reapProcesses(
  folder: string,
  deps: { readonly clock: Pick<Clock, 'after'>; readonly log: Logger },
): Promise<number> {
  const records = readRecords(folder)
  if (records.length === 0) return 0
  const boot = bootId()
  const left = () =>
    records.filter((record) => record.boot === boot && (isOurs(record) || markedBy(record.mark).length > 0))
  const found = left()
  const signal = (records: readonly ProcessRecord[], name: NodeJS.Signals) => {
    for (const record of records) endFamily(record, name)
  }
  // Killed at once, because anything that it still did would be unsupervised.
  signal(found, 'SIGKILL')
  for (let look = 0; look < KILL_LOOKS; look++) {
    const stubborn = left()
    if (stubborn.length === 0) break
    signal(stubborn, 'SIGKILL')
    await wait(deps.clock)
  }
  const remaining = new Set(left().map(({ mark }) => mark))
  for (const { mark, name, pid } of records) {
    if (remaining.has(mark)) deps.log.error({ name, pid }, 'a process of an earlier run cannot be ended')
    else rmSync(join(folder, `${mark}.json`), { force: true })
  }
  if (found.length > 0)
    deps.log.warn({ ended: found.map(({ name }) => name) }, 'processes of an earlier run were ended')
  return found.length
}

/** Signals the group, and the processes with our mark that left it. */
export function endFamily(
  { pid, start, mark }: Pick<ProcessRecord, 'pid' | 'start' | 'mark'>,
  signal: NodeJS.Signals,
): void {
  // A different start time means that the pid was reused. Without its leader, the group keeps its number.
  if (pid !== null && [null, start].includes(startTimeOf(pid))) send(-pid, signal)
  for (const one of markedBy(mark)) send(one, signal)
}

function isOurs({ pid, start }: ProcessRecord): boolean {
  if (pid === null || start === null) return false
  const now = startTimeOf(pid)
  return now === start || (now === null && isGroupAlive(pid))
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // It is gone already.
  }
}

function readRecords(folder: string): readonly ProcessRecord[] {
  let names: readonly string[]
  try {
    names = readdirSync(folder)
  } catch {
    return []
  }
  return names.flatMap((name) => {
    const file = join(folder, name)
    try {
      const read: unknown = JSON.parse(readFileSync(file, 'utf8'))
      if (isRecord(read) && name === `${read.mark}.json`) return [read]
    } catch {
      // Not one of our records, or damaged. No process is ended for it.
    }
    rmSync(file, { force: true, recursive: true })
    return []
  })
}

function isRecord(value: unknown): value is ProcessRecord {
  if (typeof value !== 'object' || value === null) return false
  const { mark, pid, start, boot } = value as Partial<ProcessRecord>
  return (
    typeof mark === 'string' &&
    MARK.test(mark) &&
    (pid === null || (Number.isInteger(pid) && Number(pid) > 1)) &&
    (start === null || typeof start === 'string') &&
    typeof boot === 'string'
  )
}

function wait(clock: Pick<Clock, 'after'>): Promise<void> {
  return new Promise((resolve) => void clock.after(LOOK_MS, resolve))
}
