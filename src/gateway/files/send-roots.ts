// What `tunables.send_roots` means on this machine: the folders whose files may be attached, and the secrets in files that
// may not, wherever they lie.
import { tmpdir } from 'node:os'
import { dirname, parse, resolve } from 'node:path'
import { writtenPath } from '../../config/instance/written-path.ts'
import type { Settings } from '../../contract/index.ts'

export interface SendPlace {
  /** Null: the embedded default is in force, and its folder is nobody's to send from. */
  readonly configFile: string | null
  /** Where the host works that asks; null: it did not say. */
  readonly hostFolder: string | null
}

/** Those that were written; else the configuration's folder, the host's and the temporary one. */
export function sendRoots(settings: Settings, { configFile, hostFolder }: SendPlace): readonly string[] {
  const beside = configFile === null ? null : dirname(configFile)
  const written = settings.tunables.sendRoots
  if (written !== null) return written.map((one) => writtenPath(beside ?? process.cwd(), one))
  // A program that was started nowhere in particular works at the very top: that is no folder of its own.
  return [beside, hostFolder, tmpdir()].filter(
    (one): one is string => one !== null && parse(one).root !== resolve(one),
  )
}

/** Where the `file:` references of the configuration in force lead to, anywhere in it. */
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
