// Facts about the machine for the benchmark: cores, disk, and the kernel's numbers for a process.
import { spawnSync } from 'node:child_process'
import { closeSync, fdatasyncSync, openSync, readFileSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { quantile } from './statistics.ts'

// Kernel clock ticks per second in /proc/PID/stat. It is 100 on every Linux that Node runs on.
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

/** Whether processes can be pinned. It needs two cores and `taskset`: core 0 for the server, core 1 for the load. */
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

/** True if fdatasync costs nothing. Measurements there then say nothing about durability. */
export function isMemoryDisk(filesystem: string): boolean {
  return filesystem === 'tmpfs' || filesystem === 'ramfs'
}

/** The median cost of one small append and fdatasync on this disk, in milliseconds, over `times` tries. */
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

/** User and system time of a process so far, in microseconds. Null without /proc. */
export function cpuMicros(pid: number): number | null {
  const text = readProc(pid, 'stat')
  if (text === null) return null
  // The name in parentheses may contain spaces, so fields are counted after it.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return ((Number(fields[11]) + Number(fields[12])) * 1e6) / TICKS_PER_SECOND
}

/** Bytes that a process wrote to the disk so far. Null if the kernel does not report it. */
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
