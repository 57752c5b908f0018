// What the system knows of processes: start times, descendants, memory, and which carry our mark. A pid is reused, so a
// process is identified by its pid and start time.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'

/** The variable that all processes of one launch carry, including those that left its group. */
export const MARK_NAME = 'SWITCHBOARD_PROCESS'

export interface ProcessRow {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly state: string
  /** In ticks since the machine started. */
  readonly start: string
}

const HAS_PROC = process.platform === 'linux'
const PS_MS = 2_000

/** Returns null if there is no such process, or only a zombie. */
export function startTimeOf(pid: number): string | null {
  if (HAS_PROC) {
    const row = readRow(pid)
    return row === null || row.state === 'Z' ? null : row.start
  }
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], {
      timeout: PS_MS,
      encoding: 'utf8',
    })
    return text.trim() === '' ? null : text.trim()
  } catch {
    return null
  }
}

/** Returns the id of this boot of the machine; empty where it is unknown. */
export function bootId(): string {
  return readText('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
}

/** Returns all processes, where the system shows them. */
export function processRows(): readonly ProcessRow[] {
  return pids().flatMap((pid) => readRow(pid) ?? [])
}

/** Returns the group of `leader` and all its descendants that are alive. */
function familyOf(leader: number, rows: readonly ProcessRow[]): readonly ProcessRow[] {
  const children = new Map<number, ProcessRow[]>()
  for (const row of rows) {
    const siblings = children.get(row.parent)
    if (siblings) siblings.push(row)
    else children.set(row.parent, [row])
  }
  const found = new Map<number, ProcessRow>()
  const open = rows.filter(({ pid, group }) => pid === leader || group === leader)
  for (let row = open.pop(); row; row = open.pop()) {
    if (found.has(row.pid)) continue
    found.set(row.pid, row)
    open.push(...(children.get(row.pid) ?? []))
  }
  return [...found.values()].filter(({ state }) => state !== 'Z')
}

/** Returns the resident memory of the family of `leader`; null where it is unknown. */
export function residentBytes(leader: number, rows: readonly ProcessRow[]): number | null {
  if (rows.length === 0) return null
  const kib = familyOf(leader, rows).map(({ pid }) =>
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readText(`/proc/${pid}/status`) ?? '')?.[1] ?? 0),
  )
  return kib.reduce((sum, one) => sum + one, 0) * 1_024
}

/** Returns the processes with this mark. Only processes of the same user can be examined. */
export function markedBy(mark: string): readonly number[] {
  const wanted = `${MARK_NAME}=${mark}`
  return pids().filter((pid) => {
    if (pid === process.pid) return false
    const environment = readText(`/proc/${pid}/environ`)
    return environment?.split('\0').includes(wanted) === true
  })
}

/** Whether a process of the group is alive. */
export function isGroupAlive(leader: number): boolean {
  if (HAS_PROC) return processRows().some(({ group, state }) => group === leader && state !== 'Z')
  try {
    process.kill(-leader, 0)
    return true
  } catch {
    return false
  }
}

function pids(): readonly number[] {
  if (!HAS_PROC) return []
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

function readRow(pid: number): ProcessRow | null {
  const text = readText(`/proc/${pid}/stat`)
  if (text === null) return null
  // The name may contain spaces and brackets, so fields are counted after the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state = 'Z', parent = '0', group = '0'] = fields
  return {
    ...{ pid, state },
    parent: Number(parent),
    group: Number(group),
    start: fields[19] ?? '',
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return null
  }
}
