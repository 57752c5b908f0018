// What doctor names as a problem: of an agent that is there or away, and of a module's file.
import { expect, it } from 'vitest'
import type { DoctorReport } from '../../contract/index.ts'
import { command, freshFolder } from '../fixtures/fake-daemon.ts'
import { problemsOf } from './problems.ts'

const { data, start } = freshFolder()

const reportOf = (connector: string, detail?: string) => {
  const bindings = [{ integration: 'tg', conversations: 'all', gates: [] }]
  const agent = {
    id: 'kate',
    connector,
    attached: true,
    bindings,
    ...(detail === undefined ? {} : { detail }),
  }
  return {
    config: { problem: null, warnings: [] },
    store: {},
    integrations: [],
    agents: [agent],
  } as unknown as DoctorReport
}

it('[I22.cc-missing] an agent that is there and says what keeps it from its work is a problem, and no other', () => {
  const problems = (connector: string, detail?: string) =>
    problemsOf(reportOf(connector, detail), connector === 'channel' ? ['kate'] : []).map(({ text }) => text)
  expect(problems('claude-code', 'not signed in')).toEqual(['agent kate: not signed in'])
  expect(problems('claude-code', 'at node b: not signed in')).toEqual([
    'agent kate: at node b: not signed in',
  ])
  expect(problems('claude-code')).toEqual([])
  expect(problems('claude-code', 'at node b')).toEqual([])
  expect(problems('channel', 'host 1 of Claude Code')).toEqual([])
})

it('[I18.doctor-numbered] an agent that is away is looked for in the whole log: it is no integration', () => {
  const { agents, ...report } = reportOf('acp', '"x" cannot be started')
  const away = { ...report, agents: agents.map((one) => ({ ...one, attached: false })) }
  expect(problemsOf(away, [])).toEqual([
    { text: 'agent kate is absent: "x" cannot be started', mend: 'switchboard logs' },
  ])
})

it('[I13.modules-restart] a module whose file changed needs a restart; one whose file is gone needs its file', async () => {
  const module = { version: '1', platforms: ['pager'], connectors: [], problem: null, changed: true }
  const modules = [
    { ...module, from: './new.mjs', file: '/new.mjs' },
    { ...module, from: './gone.mjs', file: '/gone.mjs', gone: true },
  ]
  const found = problemsOf({ ...reportOf('demo'), modules }, [])
  expect(found.map(({ text }) => text)).toEqual([
    'module ./new.mjs changed since it was loaded',
    'the file of module ./gone.mjs is gone (no such file): what was loaded runs until the next start',
  ])
  expect(found.map(({ mend }) => mend)).toEqual([
    'switchboard restart',
    'put it back, or take it out of modules:',
  ])

  const report = {
    ...reportOf('demo'),
    ok: false,
    config: { file: null, digest: '', problem: null, warnings: [] },
  }
  await start({ 'GET /api/doctor': { ...report, modules, agents: [] } })
  const { out } = await command(['doctor', '--verbose', ...data()])
  expect(out.match(/^ {2}(changed|gone) .*$/gm)).toEqual([
    '  changed since it was loaded: restart the daemon to use it',
    '  gone    no such file: what was loaded runs until the next start',
  ])
})

it('[I13.modules-doctor] doctor names each module of others with its version, in one line', async () => {
  const module = {
    version: '1.2.0',
    platforms: ['pager'],
    connectors: ['parrot'],
    problem: null,
    changed: false,
  }
  const modules = [
    { ...module, from: './pager.mjs', file: '/pager.mjs' },
    { ...module, from: 'broken', file: null, version: null, problem: 'it throws' },
  ]
  const report = {
    ...reportOf('demo'),
    ok: true,
    agents: [],
    config: { file: null, digest: '', problem: null, warnings: [] },
  }
  await start({ 'GET /api/doctor': { ...report, modules } })
  const { out } = await command(['doctor', ...data()])
  expect(out.match(/^module .*$/gm)).toEqual([
    'module ./pager.mjs 1.2.0 (pager, parrot)',
    'module broken (not used)',
  ])
})
