// What processes used so far: one, several, or a whole tree (PostgreSQL forks a process for each connection).
import { readdirSync, readFileSync } from 'node:fs'
import { bytesWritten, cpuMicros, TICKS_PER_SECOND } from './machine.ts'

export interface Probe {
  /** CPU time so far in microseconds. Null if the kernel does not report it. */
  cpu(): number | null
  /** Bytes written to the disk so far. Null if the kernel does not report it. */
  disk(): number | null
}

export function probeOf(pids: readonly number[]): Probe {
  return {
    cpu: () => sum(pids.map(cpuMicros)),
    disk: () => sum(pids.map(bytesWritten)),
  }
}

/** A process with all its descendants, ended ones included. The disk count of an ended process is lost. */
export function probeTree(root: number): Probe {
  return { cpu: () => treeMicros(root), disk: () => null }
}

/** CPU time of a tree so far. Null without /proc. */
export function treeMicros(root: number): number | null {
  const all = readTable()
  if (all === null || !all.has(root)) return null
  const children = new Map<number, number[]>()
  for (const [pid, { parent }] of all) children.set(parent, [...(children.get(parent) ?? []), pid])
  let ticks = 0
  const open = [root]
  for (let pid = open.pop(); pid !== undefined; pid = open.pop()) {
    ticks += all.get(pid)?.ticks ?? 0
    open.push(...(children.get(pid) ?? []))
  }
  return (ticks * 1e6) / TICKS_PER_SECOND
}

interface Entry {
  readonly parent: number
  /** Its own ticks, and those of its ended children. */
  readonly ticks: number
}

function readTable(): ReadonlyMap<number, Entry> | null {
  let names: readonly string[]
  try {
    names = readdirSync('/proc')
  } catch {
    return null
  }
  const table = new Map<number, Entry>()
  for (const name of names) {
    if (!/^\d+$/.test(name)) continue
    try {
      const text = readFileSync(`/proc/${name}/stat`, 'utf8')
      const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
      const ticks = [11, 12, 13, 14].reduce((all, at) => all + Number(fields[at]), 0)
      table.set(Number(name), { parent: Number(fields[1]), ticks })
    } catch {
      // It ended meanwhile.
    }
  }
  return table
}

function sum(values: readonly (number | null)[]): number | null {
  let all = 0
  for (const value of values) {
    if (value === null) return null
    all += value
  }
  return all
}
