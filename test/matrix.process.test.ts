// The run over several lines of Node, with an npm of our own that fetches nothing: the Node at hand under every name.
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { run } from './faults/scene.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sb-matrix-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

writeFileSync(
  join(folder, 'npm'),
  `#!/bin/sh
for last; do :; done
name="\${last%@*}"
test "\${last#*@}" = 99 && { echo "no such version" >&2; exit 1; }
mkdir -p "$3/node_modules/$name/bin" && ln -s "${process.execPath}" "$3/node_modules/$name/bin/node"
`,
)
chmodSync(join(folder, 'npm'), 0o755)

const matrix = (...args: string[]) => {
  const path = [folder, process.env.PATH ?? ''].join(delimiter)
  return run(
    '/usr/bin/env',
    [`PATH=${path}`, process.execPath, join(ROOT, 'scripts/matrix.mjs'), ...args],
    ROOT,
  )
}

it('[I13.matrix] runs the tests on Node 20, 22 and 24, and says how each ended', async () => {
  const { code, stdout } = await matrix('--', 'test/reporter.test.ts')
  expect(stdout.match(/^Node \d+ +\w+/gm)).toEqual([
    'Node 20       passed',
    'Node 22       passed',
    'Node 24       passed',
  ])
  expect(code).toBe(0)
})

it('[I13.matrix] fails when the tests fail on one, and when one cannot be fetched', async () => {
  const failed = await matrix('22', '--', 'test/no-such-file.test.ts')
  expect([failed.code, failed.stdout.includes('Node 22       FAILED')]).toEqual([1, true])
  const absent = await matrix('99', '--', 'test/reporter.test.ts')
  expect([absent.code, absent.stderr.includes('no such version')]).toEqual([1, true])
  expect((await matrix('newest')).code).toBe(2)
})
