// A foreign MCP server as tools: started, listed, called after an approval, and ended with its agent.
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { createRealClock } from '../../runtime/real-clock.ts'
import { createFakeLlm } from '../../testing/llm/fake-llm.ts'
import { delivery, startRecorded } from '../../testing/suites/connector-suite.ts'
import { testConnectorDeps } from '../../testing/test-deps.ts'
import { memoryJournal } from './fixtures/llm-scene.ts'
import { createLlmConnector } from './index.ts'

const folder = mkdtempSync(join(tmpdir(), 'sb-llm-mcp-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('[I16.mcp-others] the memory server of the MCP project remembers what the model tells it, once a person allowed it', async () => {
  const packaged = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-memory/package.json')
  const entity = { name: 'Oslo', entityType: 'city', observations: ['it rains'] }
  const fake = createFakeLlm({
    script: ({ isResult, last }) =>
      isResult
        ? { text: `It said: ${last}` }
        : { calls: [{ name: 'memory__create_entities', input: { entities: [entity] } }] },
  })
  const server = {
    command: process.execPath,
    args: [join(dirname(packaged), 'dist/index.js')],
    env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') },
  }
  const gone = { command: join(folder, 'nowhere') }
  const options = {
    provider: 'openai-compatible',
    base_url: 'http://127.0.0.1:9/v1',
    model: 'm1',
    mcp: { memory: server, gone },
  }
  const clock = createRealClock()
  const deps = { ...testConnectorDeps({ options }, { journal: memoryJournal() }), clock }
  const connector = await createLlmConnector(deps, fake.fetch)
  const recorded = await startRecorded(connector)
  try {
    await connector.deliver(delivery('remember Oslo', { agent: 'agent' }))
    const asked = await recorded.until('ask')
    if (asked.kind !== 'ask') throw new Error('unreachable')
    expect(asked.ask).toMatchObject({
      toolName: 'memory__create_entities',
      input: expect.stringContaining('Oslo'),
    })
    const approval = `o_test_${recorded.outputs.indexOf(asked) + 1}`
    const { session, turn = null, ask } = asked
    await connector.verdict?.({
      approval,
      session,
      turn,
      behavior: 'allow',
      decidedBy: 'kate',
      cause: 'person',
      ask,
    })
    expect(await recorded.until('say')).toMatchObject({ text: expect.stringContaining('it rains') })
    const offered = ((fake.requests[0]?.body.tools ?? []) as { function: { name: string } }[]).map(
      (one) => one.function.name,
    )
    expect(offered).toContain('memory__search_nodes')
    // A server that does not start does not affect the others.
    expect(offered.filter((name) => name.startsWith('gone__'))).toEqual([])
    expect(deps.log.lines.join('\n')).toContain('"server":"gone"')
  } finally {
    await connector.stop()
  }
})
