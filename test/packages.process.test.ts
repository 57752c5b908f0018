// The image as far as it can be tried without a container engine: by the script that runs the Dockerfile's lines in bare roots.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { LEFT_TO_TEST_ALL } from '../scripts/vitest-reporter.mjs'
import { run } from './faults/scene.ts'
import { SCOPE } from './scenarios/deal.ts'

// It fetches a Debian and all packages twice: minutes, and only as root.
it('[I18.dockerfile-ran] each RUN line holds in a bare root, and the daemon runs on a read-only one, as nobody special', async (context) => {
  if (SCOPE !== 'all') return context.skip(LEFT_TO_TEST_ALL)
  if (
    process.getuid?.() !== 0 ||
    (await run('sh', ['-c', 'command -v debootstrap unshare ip'], '.')).code !== 0
  )
    return context.skip('root, debootstrap, unshare and ip are needed')
  const { stdout } = await promisify(execFile)(process.execPath, ['scripts/try-dockerfile.mjs'])
  expect(stdout.match(/: RUN /g)).toHaveLength(4)
  expect(stdout).toMatch(/HEALTHCHECK: well, as uid 1000\nSIGTERM: exit 0\nthe image holds\n$/)
}, 1_800_000)
