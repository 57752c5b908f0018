// What the benchmark knows about the machine: cores, disk, and what the kernel says about a process.
import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { quantile } from './statistics.ts'

// Kernel clock ticks a second in /proc/PID/stat: 100 on every Linux that Node runs on.
export const TICKS_PER_SECOND = 100

const FILESYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  16914836: 'tmpfs',
  2240043254: 'ramfs',
  1481003842: 'xfs',
  2435016766: 'btrfs',
  2035054128: 'overlay',
  801189825: 'zfs',
}

export interface Machine {
  readonly cores: number
  readonly cpu: string
  readonly node: string
  readonly load_1m: number
  readonly pinned: boolean
  readonly filesystem: string
}

/** Two cores and `taskset`: the server gets core 0, the load generator core 1. */
export const canPin: boolean =
  availableParallelism() >= 2 && spawnSync('taskset', ['--version'], { stdio: 'ignore' }).status === 0

export function describeMachine(dir: string): Machine {
  return {
    cores: availableParallelism(),
    cpu: cpus()[0]?.model ?? 'unknown',
    node: process.version,
    load_1m: Number((loadavg()[0] ?? 0).toFixed(2)),
    pinned: canPin,
    filesystem: filesystemOf(dir),
  }
}

function filesystemOf(dir: string): string {
  const { type } = statfsSync(dir)
  return FILESYSTEMS[type] ?? `0x${type.toString(16)}`
}

/** True where fdatasync costs nothing, so that nothing measured there says anything about durability. */
export function isMemoryDisk(filesystem: string): boolean {
  return filesystem === 'tmpfs' || filesystem === 'ramfs'
}

/** What one small append and fdatasync cost on this disk: milliseconds, median of `times`. */
export function measureFdatasync(dir: string, times: number): number {
  const file = join(dir, 'fdatasync.probe')
  const handle = openSync(file, 'w')
  const block = Buffer.alloc(4096, 0x5a)
  const took: number[] = []
  try {
    for (let at = 0; at < times; at++) {
      const before = performance.now()
      writeSync(handle, block)
      fdatasyncSync(handle)
      took.push(performance.now() - before)
    }
  } finally {
    closeSync(handle)
    rmSync(file, { force: true })
  }
  return quantile(took, 0.5)
}

/** User and system time of a process so far, in microseconds; null where there is no /proc. */
export function cpuMicros(pid: number): number | null {
  const text = readProc(pid, 'stat')
  if (text === null) return null
  // The name in parentheses may hold spaces: fields are counted from behind it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND
}

/** Bytes that a process sent to the disk so far; null where the kernel does not say. */
export function bytesWritten(pid: number): number | null {
  const bytes = readProc(pid, 'io')?.match(/^write_bytes: (\d+)/m)?.[1]
  return bytes === undefined ? null : Number(bytes)
}

/** Resident memory in MB (2^20 bytes): now, or the highest so far. */
export function residentMb(pid: number, which: 'VmRSS' | 'VmHWM' = 'VmRSS'): number | null {
  const kilobytes = readProc(pid, 'status')?.match(new RegExp(`^${which}:\\s+(\\d+) kB`, 'm'))?.[1]
  return kilobytes === undefined ? null : Number(kilobytes) / 1024
}

function readProc(pid: number, name: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return null
  }
}
