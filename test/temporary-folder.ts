// One folder for everything that a test run writes to the system's temporary folder. It goes when the run ends.
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const MADE = 'SWITCHBOARD_TEST_FOLDER'

/** Vitest loads this file once for each project. One folder is enough, and paths of sockets in it must stay short. */
export default function setup(): () => void {
  if (process.env[MADE] !== undefined) return () => undefined
  const before = process.env.TMPDIR
  const folder = mkdtempSync(join(tmpdir(), 'swb-test-'))
  // When the tests run as root, PostgreSQL runs as another user and has its files below this folder.
  chmodSync(folder, 0o711)
  process.env.TMPDIR = folder
  process.env[MADE] = folder
  return () => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
    delete process.env[MADE]
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
