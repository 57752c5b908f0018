// A missing folder of an ACP agent, whatever is in its place: it is reported in words, and checked again.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { scratchFolder } from '../../testing/scratch.ts'
import { startRecorded } from '../../testing/suites/connector-suite.ts'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import { createAcpConnector } from './index.ts'

/** Longer than the time between two checks. */
const LATER_MS = 6_000

it('[I35.b45-cwd-odd] a folder behind a file or a link to itself is absent in words, and is found when it is made', async () => {
  const base = scratchFolder('acp')
  const deps = testConnectorDeps(
    { options: { command: 'x', cwd: './gone/sub' } },
    { processes: { environment: {}, records: join(base, 'r'), folder: join(base, 'own'), base } },
  )
  const gone = join(base, 'gone')
  writeFileSync(gone, '')
  const connector = createAcpConnector(deps)
  // At the start, and from the timer. A throw in either would end the daemon.
  const recorded = await startRecorded(connector)
  const says = () => recorded.details.at(-1) ?? ''
  expect(says()).toContain('a part of its path is a file')
  expect(says()).toContain(`${gone}/sub; make it, or name another by connector.cwd`)
  rmSync(gone)
  await deps.clock.advance(LATER_MS)
  expect(says()).toContain('is not there:')
  symlinkSync(gone, gone)
  await deps.clock.advance(LATER_MS)
  expect(says()).toContain('a link that leads back to itself')
  rmSync(gone)
  mkdirSync(gone)
  writeFileSync(join(gone, 'sub'), '')
  await deps.clock.advance(LATER_MS)
  expect(says()).toContain('is a file')
  rmSync(join(gone, 'sub'))
  mkdirSync(join(gone, 'sub'))
  await deps.clock.advance(LATER_MS)
  expect([recorded.attached, recorded.details.at(-1)]).toEqual([true, undefined])
  await connector.stop()
})
