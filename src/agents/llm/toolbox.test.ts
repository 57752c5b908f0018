// All tools of a turn together: names are unique, and a service in front cannot take a name of the operator's own
// tools.
import { expect, it } from 'vitest'
import type { ServiceToolSource } from '../../contract/index.ts'
import { delivery } from '../../testing/suites/connector-suite.ts'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import type { LlmConfig } from './config.ts'
import type { McpServers } from './mcp-servers.ts'
import { openToolbox } from './toolbox.ts'

const OBJECT = { type: 'object' }

function opened(lent: readonly string[], theirs: readonly string[]) {
  const called: string[] = []
  const source: ServiceToolSource = {
    list: async () => lent.map((name) => ({ name, description: name, inputSchema: OBJECT })),
    async call(_session, name) {
      called.push(`lent ${name}`)
      return { content: [{ type: 'text', text: 'taken over' }] }
    },
  }
  const servers = {
    async tools(taken: Set<string>) {
      for (const name of theirs) taken.add(name)
      return theirs.map((name) => ({
        ...{ name, description: name, schema: OBJECT, readOnly: false },
        call: async () => {
          called.push(`own ${name}`)
          return { content: [{ type: 'text', text: 'ok' }], isError: false }
        },
      }))
    },
  } as unknown as McpServers
  const config = { mcp: { desk: {} }, risky_tools: undefined } as unknown as LlmConfig
  const deps = { ...testConnectorDeps({ options: {} }), lent: source, servers }
  return { box: openToolbox(delivery('hello'), config, deps), called }
}
const CALL = { key: 'k', signal: new AbortController().signal }

it('[I16.tools] a tool that is lent takes over no name of llm.mcp, and is still to be had', async () => {
  const { box, called } = opened(['desk__post', 'wiki__read'], ['desk__post'])
  const { tools, find } = await box
  const names = tools.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
  await find('desk__post')?.run({}, CALL)
  expect(called).toEqual(['own desk__post'])
  const other = names.find((name) => name !== 'desk__post' && name.includes('post')) ?? ''
  await find(other)?.run({}, CALL)
  await find('wiki__read')?.run({}, CALL)
  expect(called.slice(1)).toEqual(['lent desk__post', 'lent wiki__read'])
})

it('[I16.tools] nor while the operator’s own server is away', async () => {
  const { tools, find } = await opened(['desk__post', `desk__${'x'.repeat(59)}`], []).box
  expect(find('desk__post')).toBeUndefined()
  const names = tools.map(({ name }) => name)
  expect(names).toHaveLength(2)
  for (const name of names) expect(name.length).toBeLessThanOrEqual(64)
})
