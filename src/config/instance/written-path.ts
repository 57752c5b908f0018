// A path as a person writes it in the configuration.
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/** `~` is the home folder; what is relative begins at `folder`. */
export function writtenPath(folder: string, written: string): string {
  if (written === '~') return homedir()
  return written.startsWith('~/') ? join(homedir(), written.slice(2)) : resolve(folder, written)
}
