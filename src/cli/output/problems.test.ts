// What doctor names as a problem of an agent that is there.
import { expect, it } from 'vitest'
import type { DoctorReport } from '../../contract/index.ts'
import { problemsOf } from './problems.ts'

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
