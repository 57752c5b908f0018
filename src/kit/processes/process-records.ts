// What is running, as files: one a launch, written before it starts and removed when all of it is gone. What a daemon
// that was killed left behind is ended by the next one, by pid and start time and by the mark in its environment. Never
// by name: a program of the same name may be somebody's own.
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Clock, Logger } from '../../contract/index.ts'
import { bootId, isGroupAlive, markedBy, startTimeOf } from './proc-table.ts'

export interface ProcessRecord {
  /** The value of MARK_NAME in its environment: random, and its own. */
  readonly mark: string
  /** Null until it was started: then only the mark finds it. */
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
      // Half a file would be no record at all.
      writeFileSync(`${file}.new`, JSON.stringify(record), { mode: 0o600 })
      renameSync(`${file}.new`, file)
    },
    remove: (mark) => rmSync(fileOf(mark), { force: true }),
  }
}

/**
 * Ends what the records of a folder name, and forgets them. The caller owns the folder: nobody else writes there. Resolves
 * with how many were found alive; one that cannot be ended is told and stays recorded.
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
  // At once: nobody answers it any more, so all that it could still do it would do alone.
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

/** A signal to the group, and to whoever left it with our mark. */
export function endFamily(
  { pid, start, mark }: Pick<ProcessRecord, 'pid' | 'start' | 'mark'>,
  signal: NodeJS.Signals,
): void {
  // The number is somebody else's by now when the start time differs. No leader: the group keeps its number.
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
      // Not one of ours, or broken: nobody is ended for it.
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
