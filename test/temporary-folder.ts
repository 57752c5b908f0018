// One folder for everything that a test run writes to the system's temporary folder. It goes when the run ends.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

let made = 0

/** Vitest calls it once for each project; one folder is enough. */
export default function setup(): () => void {
  if (made++ > 0) return () => undefined
  const before = process.env.TMPDIR
  const folder = mkdtempSync(join(tmpdir(), 'swb-test-'))
  // Where the tests run as root, PostgreSQL runs as another user and has its files below.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  return () => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
