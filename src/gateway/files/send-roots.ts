// The meaning of `tunables.send_roots` on this machine: folders whose files may be attached, and secret files that may
// never be.
import { tmpdir } from 'node:os'
import { dirname, parse, resolve } from 'node:path'
import { writtenPath } from '../../config/instance/written-path.ts'
import type { Settings } from '../../contract/index.ts'

export interface SendPlace {
  /** Null: the embedded default is in force, and its folder allows no files. */
  readonly configFile: string | null
  /** The working folder of the asking host; null: unknown. */
  readonly hostFolder: string | null
}

/** Returns the configured folders; else the configuration's folder, the host's and the temporary one. */
export function sendRoots(settings: Settings, { configFile, hostFolder }: SendPlace): readonly string[] {
  const beside = configFile === null ? null : dirname(configFile)
  const written = settings.tunables.sendRoots
  if (written !== null) return written.map((one) => writtenPath(beside ?? process.cwd(), one))
  // A program started without a working folder runs in the root folder, which does not count.
  return [beside, hostFolder, tmpdir()].filter(
    (one): one is string => one !== null && parse(one).root !== resolve(one),
  )
}

/** Returns the targets of all `file:` references in the present configuration. */
export function secretFiles(settings: Settings, folder: string): readonly string[] {
  const found = new Set<string>()
  const open: unknown[] = [settings]
  while (open.length > 0) {
    const one = open.pop()
    if (typeof one === 'string' && one.startsWith('file:'))
      found.add(writtenPath(folder, one.slice('file:'.length)))
    else if (typeof one === 'object' && one !== null) open.push(...Object.values(one))
  }
  return [...found]
}
