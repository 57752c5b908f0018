// What `doctor` prints: the findings first, then modules of others in a line each; `--verbose` shows them in full.
import { expect, it } from 'vitest'
import { command, freshFolder } from './fixtures/fake-daemon.ts'

const { data, start } = freshFolder()

const REPORT = {
  ok: false,
  problems: [],
  config: { file: null, digest: '', problem: null, warnings: [] },
  store: {},
  integrations: [],
  agents: [],
}

it('[I18.doctor-numbered] doctor begins with the problems that the daemon names, each with its remedy', async () => {
  const problem = { code: 'agent-absent', severity: 'problem', word: 'absent', subject: 'agent kate' }
  const problems = [
    { ...problem, text: 'agent kate is absent', remedy: 'switchboard logs' },
    { ...problem, severity: 'warning', text: 'a warning of the table', remedy: 'nothing' },
  ]
  await start({ 'GET /api/doctor': { ...REPORT, problems } })
  const { code, out } = await command(['doctor', ...data()])
  expect(code).toBe(1)
  expect(out.split('\n').slice(0, 5)).toEqual([
    '1 problem:',
    '1. agent kate is absent',
    '   → switchboard logs',
    'warning a warning of the table',
    '   → nothing',
  ])
})

it('[I35.a4-well] doctor says that all is well where no row of the health table holds', async () => {
  await start({ 'GET /api/doctor': { ...REPORT, ok: true } })
  const { code, out } = await command(['doctor', ...data()])
  expect([code, out.split('\n')[0]]).toEqual([0, 'All is well: 0 integrations, 0 agents.'])
})

it('[I35.a4-well] doctor does not say that all is well where a warning of the table holds', async () => {
  const text = 'agent kate was unreachable at its last message'
  const row = { code: 'agent-was-unreachable', severity: 'warning', word: 'was unreachable' }
  const problems = [{ ...row, subject: 'agent kate', text, remedy: 'write to it' }]
  await start({ 'GET /api/doctor': { ...REPORT, ok: true, problems } })
  const { out } = await command(['doctor', ...data()])
  expect(out.split('\n').slice(0, 3)).toEqual([
    'No problem, 1 warning: 0 integrations, 0 agents.',
    `warning ${text}`,
    '   → write to it',
  ])
})

it('[I13.modules-restart] doctor --verbose says whether the file of a module changed or is gone', async () => {
  const module = { version: '1', platforms: ['pager'], connectors: [], problem: null, changed: true }
  const modules = [
    { ...module, from: './new.mjs', file: '/new.mjs' },
    { ...module, from: './gone.mjs', file: '/gone.mjs', gone: true },
  ]
  await start({ 'GET /api/doctor': { ...REPORT, modules } })
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
  await start({ 'GET /api/doctor': { ...REPORT, ok: true, modules } })
  const { out } = await command(['doctor', ...data()])
  expect(out.match(/^module .*$/gm)).toEqual([
    'module ./pager.mjs 1.2.0 (pager, parrot)',
    'module broken (not used)',
  ])
})
