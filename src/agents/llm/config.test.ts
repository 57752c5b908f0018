// The options of the connector `llm`, and doctor's findings about them.
import { describe, expect, it } from 'vitest'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import { testAgent } from '../../testing/test-settings.ts'
import { createLlmConnector } from './index.ts'
import { llmModule } from './module.ts'

describe('options', () => {
  it.each([
    [{ provider: 'other' }, 'provider'],
    [{ model: '' }, 'model'],
    [{ api_key: 'sk-written-here' }, 'api_key'],
    [{ api_key: undefined }, 'api_key'],
    [{ provider: 'openai-compatible' }, 'base_url'],
    [{ limits: { steps: 0 } }, 'limits.steps'],
    [{ limits: { cost_per_day: 5 } }, 'cost_per_day'],
    [{ mcp: { files: {} } }, 'mcp.files'],
    [{ modle: 'x' }, 'modle'],
  ])('[I16.llm-options] %j is refused by its key', async (options, named) => {
    const deps = testConnectorDeps({
      options: { provider: 'anthropic', model: 'm', api_key: 'env:KEY', ...options },
      secrets: { 'env:KEY': 'k' },
    })
    await expect(createLlmConnector(deps)).rejects.toThrow(named)
  })

  it('[I16.llm-options] a key that no header can carry is refused without being shown', async () => {
    const options = { provider: 'anthropic', model: 'm', api_key: 'env:KEY' }
    const deps = testConnectorDeps({ options, secrets: { 'env:KEY': 'sk planted\n4711' } })
    await expect(createLlmConnector(deps)).rejects.toThrow(/api_key/)
    await expect(createLlmConnector(deps)).rejects.not.toThrow(/4711/)
  })
})

it('[I16.doctor] doctor is told which model it is, what its limits are, and that not every tool asks', () => {
  const agent = (options: object) =>
    llmModule.doctor?.(testAgent('kate', [], { connector: { type: 'llm', options: { ...options } } }), {
      publicUrl: null,
    })
  const plain = { provider: 'anthropic', model: 'm1', api_key: 'secret:x' }
  expect(agent(plain)?.map(({ gate, reason }) => [gate, reason])).toEqual([
    ['model', 'm1 (anthropic)'],
    ['limits', '25 steps, 10 min and 200000 tokens a turn; none a day'],
  ])
  const open = {
    ...plain,
    provider: 'openai-compatible',
    base_url: 'http://127.0.0.1:11434/v1',
    risky_tools: ['a'],
  }
  expect(agent(open)).toMatchObject([
    { reason: 'm1 (openai-compatible at 127.0.0.1:11434)' },
    {},
    { gate: 'approvals', flagged: true, key: 'agents[0].connector.risky_tools' },
  ])
  expect(agent({ provider: 'x' })).toEqual([])
})

it('[I16.limits-day] an agent without a limit a day, or whose tools do not all ask, is found by doctor --security', () => {
  const found = (options: object) =>
    llmModule.security?.(
      testAgent('kate', [], {
        connector: {
          type: 'llm',
          options: { provider: 'anthropic', model: 'm1', api_key: 'secret:x', ...options },
        },
      }),
      { host: '127.0.0.1', near: true, public: false },
    )
  expect(found({})).toEqual([
    {
      severity: 'low',
      what: 'agent kate has no limit of tokens or cost a day',
      key: 'agents[0].connector.limits.tokens_per_day',
    },
  ])
  expect(found({ limits: { tokens_per_day: 9 }, risky_tools: [] })).toEqual([
    {
      severity: 'medium',
      what: 'of the tools of agent kate only those that are listed wait for an approval',
      key: 'agents[0].connector.risky_tools',
    },
  ])
  const prices = { input: 1, output: 1 }
  expect(found({ limits: { cost_per_day: 9 }, prices })).toEqual([])
  expect(found({ model: 7 })).toEqual([])
})
