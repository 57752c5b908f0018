// The tools that an agent reports: stored for the console, shown on request, and never with a credential.
import { describe, expect, it } from 'vitest'
import { opened, URL_SECRET } from './fixtures/agent-scene.ts'

describe('tool events', () => {
  it('[I9.tools-in-chat] tool calls are said in the chat only where that is asked for', async () => {
    const { callback, says } = await opened(undefined, { show_tools: true })
    await callback({ type: 'tool_call', name: 'web_search', args: { query: 'oslo' }, id: 'tc_1' })
    expect(says()).toEqual(['🔧 `web_search {"query":"oslo"}`'])
    const quiet = await opened()
    await quiet.callback({ type: 'tool_call', name: 'web_search', args: { query: 'oslo' }, id: 'tc_1' })
    expect(quiet.says()).toEqual([])
  })

  it('[I35.left-chain-status] the status line of a tool call says that an event tells the same', async () => {
    const { callback, recorded } = await opened()
    await callback({ type: 'tool_call', name: 'web_search', args: {}, id: 'tc_1' })
    await callback({ type: 'status', status: 'thinking' })
    expect(recorded.outputs.filter(({ kind }) => kind === 'status')).toMatchObject([
      { text: '🔧 web_search', call: true },
      { text: 'thinking' },
    ])
  })

  it('[I9.tools-kept] tool calls and their results are kept beside the turn, however they are made', async () => {
    const { callback, recorded } = await opened()
    const nested = `${'['.repeat(30_000)}${']'.repeat(30_000)}`
    await callback({
      type: 'tool_call',
      name: 'web_search',
      args: { query: 'oslo' },
      id: 'tc_1',
      event_id: 'e1',
    })
    await callback({ type: 'tool_result', id: 'tc_1', content: 'Oslo: 3°C' })
    await callback(`{"type":"tool_call","name":"odd","id":7,"args":${nested}}`)
    await callback({ type: 'tool_result' })
    const kept = recorded.outputs.flatMap((one) => (one.kind === 'event' ? [one.event] : []))
    expect(kept).toMatchObject([
      { kind: 'tool_call', call: 'tc_1', name: 'web_search', text: '{"query":"oslo"}', key: 'e1' },
      { kind: 'tool_result', call: 'tc_1', name: null, text: 'Oslo: 3°C', key: null },
      { kind: 'tool_call', call: null, name: 'odd' },
      { kind: 'tool_result', call: null, text: '' },
    ])
  })

  it('[I9.tools-no-secret] what an agent repeats of its connection string or callback is neither kept nor shown', async () => {
    const { callback, recorded } = await opened(undefined, { show_tools: true })
    await callback({
      type: 'tool_call',
      name: 'curl',
      args: { url: URL_SECRET, headers: { authorization: 'sk_planted4711' } },
    })
    await callback({ type: 'tool_result', content: `POST ${URL_SECRET} ok` })
    expect(JSON.stringify(recorded.outputs)).not.toContain('planted4711')
  })
})
