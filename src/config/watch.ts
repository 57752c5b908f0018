// Watches files by their folders, because editors replace a file instead of writing to it, and mounted
// configurations swap a link. One look per pause, however noisy the folder is; no look at all while it is quiet.
import { type FSWatcher, statSync, watch } from 'node:fs'
import { dirname } from 'node:path'
import type { Cancel, Clock } from '../contract/index.ts'

export interface FileWatch {
  /** The files to watch from now on; the current state of new ones counts as seen. */
  follow(files: readonly string[]): void
  stop(): void
}

export interface FileWatchDeps {
  readonly clock: Clock
  readonly debounceMs?: number
  /** How long to wait before a folder that could not be watched is tried again. */
  readonly retryMs?: number
  readonly signature?: (path: string) => string
  readonly watchFolder?: (folder: string, onEvent: () => void, onError: () => void) => { close(): void }
}

/** Calls back once a watched file has changed and then stayed the same for a debounce. */
export function watchFiles(onChange: () => void, deps: FileWatchDeps): FileWatch {
  const debounceMs = deps.debounceMs ?? 200
  const retryMs = deps.retryMs ?? 5_000
  const signature = deps.signature ?? fileSignature
  const watchFolder = deps.watchFolder ?? nodeWatch
  const seen = new Map<string, string>()
  const folders = new Map<string, { close(): void }>()
  let pause: Cancel | null = null
  let retry: Cancel | null = null
  let stopped = false

  const state = () => [...seen.keys()].map(signature).join('\n')
  const known = () => [...seen.values()].join('\n')

  function look(): void {
    if (stopped || pause !== null) return
    const before = state()
    pause = deps.clock.after(debounceMs, () => {
      pause = null
      if (stopped) return
      const after = state()
      if (after === known() && before === after) return
      if (before !== after) return look()
      for (const file of seen.keys()) seen.set(file, signature(file))
      onChange()
    })
  }

  function open(): void {
    const wanted = new Set([...seen.keys()].map((file) => dirname(file)))
    for (const [folder, handle] of folders) {
      if (wanted.has(folder)) continue
      handle.close()
      folders.delete(folder)
    }
    for (const folder of wanted) {
      if (folders.has(folder)) continue
      try {
        folders.set(
          folder,
          watchFolder(folder, look, () => lost(folder)),
        )
      } catch {
        again()
      }
    }
  }

  function lost(folder: string): void {
    folders.get(folder)?.close()
    folders.delete(folder)
    again()
  }

  function again(): void {
    if (stopped || retry !== null) return
    retry = deps.clock.after(retryMs, () => {
      retry = null
      if (stopped) return
      open()
      look()
    })
  }

  return {
    follow(files) {
      if (stopped) return
      for (const file of seen.keys()) if (!files.includes(file)) seen.delete(file)
      for (const file of files) if (!seen.has(file)) seen.set(file, signature(file))
      open()
    },
    stop() {
      stopped = true
      pause?.()
      retry?.()
      for (const handle of folders.values()) handle.close()
      folders.clear()
    },
  }
}

function fileSignature(path: string): string {
  try {
    const stat = statSync(path, { bigint: true })
    return `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`
  } catch {
    return 'absent'
  }
}

function nodeWatch(folder: string, onEvent: () => void, onError: () => void): { close(): void } {
  const watcher: FSWatcher = watch(folder, { persistent: false }, onEvent)
  watcher.on('error', onError)
  return watcher
}
