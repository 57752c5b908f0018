// The double of Claude Code itself: its gates in their order and words, the probe, and servers of plugins.
import { describe, expect, it } from 'vitest'
import { CLAUDE_GATES } from '../src/cli/claude-gates.ts'
import { type ChannelSession, closedGate } from '../src/testing/claude-code-gates.ts'
import { type ClaudeCodeOptions, startClaudeCode } from '../src/testing/emulate.ts'

const SERVER = { name: 'switchboard', declared: true, modern: false }
const PLUGIN = { name: 'plugin:a:a', declared: true, modern: false }
const plugin = { name: 'a', marketplace: 'b' }
const SHUT = { provider: false, feature: false, policy: false }

/** Gate, how it is closed with everything behind it closed as well, and the words. */
const CLOSED: readonly (readonly [
  gate: string,
  session: ChannelSession,
  server: typeof SERVER,
  says: string,
])[] = [
  [
    'capability',
    { gates: SHUT },
    { ...SERVER, declared: false, modern: true },
    'server did not declare claude/channel capability',
  ],
  [
    'protocol',
    { gates: SHUT },
    { ...SERVER, modern: true },
    'connection negotiated a modern protocol revision with no unsolicited notification path',
  ],
  ['provider', { gates: SHUT }, SERVER, 'channels are not available on third-party providers'],
  [
    'feature',
    { gates: { feature: false, policy: false } },
    SERVER,
    'channels feature is not currently available',
  ],
  [
    'org policy',
    { gates: { policy: false } },
    SERVER,
    'channels not enabled by org policy (set channelsEnabled: true in managed settings)',
  ],
  ['session', {}, SERVER, 'server switchboard not in --channels list for this session'],
  [
    'session',
    { plugin, channels: ['server:a', 'plugin:c@b'] },
    PLUGIN,
    'server plugin:a:a not in --channels list for this session',
  ],
  [
    'marketplace',
    { plugin, channels: ['plugin:a@elsewhere'] },
    PLUGIN,
    'you asked for plugin:a@elsewhere but the installed plugin is a@b',
  ],
  [
    'allowlist',
    { plugin, approvedChannels: ['plugin:a@b'] },
    PLUGIN,
    'plugin a@b is not on the approved channels allowlist (use --dangerously-load-development-channels for local dev)',
  ],
  [
    'allowlist',
    { plugin, approvedChannels: ['plugin:a@b'], gates: { allowedChannelPlugins: ['c@b'] } },
    PLUGIN,
    "plugin a@b is not on your org's approved channels list (set allowedChannelPlugins in managed settings)",
  ],
]

describe('the gates', () => {
  it.each(CLOSED)(
    '[S6.ch-doctor-why] %s closes in its turn, and doctor knows its words',
    (gate, session, server, says) => {
      expect(closedGate(session, server)).toBe(says)
      expect(CLAUDE_GATES.find((one) => one.says.test(says))?.gate).toBe(gate)
    },
  )

  it('open for what the flag for development names, for what is approved, and for what the organisation lists', () => {
    expect(closedGate({ channels: ['server:switchboard'] }, SERVER)).toBeNull()
    expect(closedGate({ plugin, channels: ['plugin:a@b'] }, PLUGIN)).toBeNull()
    const listed = { allowedChannelPlugins: ['a@b'] }
    expect(closedGate({ plugin, approvedChannels: ['plugin:a@b'], gates: listed }, PLUGIN)).toBeNull()
    const official = { name: 'telegram', marketplace: 'claude-plugins-official' }
    const telegram = { ...PLUGIN, name: 'plugin:telegram:telegram' }
    const asked = ['plugin:telegram@claude-plugins-official']
    expect(closedGate({ plugin: official, approvedChannels: asked }, telegram)).toBeNull()
    // The organisation's list replaces the maker's, and the flag is for its own entries only.
    const session = { plugin: official, approvedChannels: asked, channels: ['plugin:a@b'], gates: listed }
    expect(closedGate(session, telegram)).toMatch(/your org's approved channels list/)
  })
})

/** The smallest channel server: it pushes what the probe and the handshake told it. */
const ECHO = `
  let told = {}
  const send = (m) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...m }) + '\\n')
  require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line)
    if (method === 'server/discover') { told.probe = params._meta; send({ id, error: { code: -32601, message: 'Method not found' } }) }
    if (method === 'initialize') {
      told.opened = params
      send({ id, result: { protocolVersion: '2025-11-25', serverInfo: { name: 'e', version: '1' }, capabilities: { experimental: { 'claude/channel': {} } } } })
    }
    if (method === 'tools/list') {
      send({ id, result: { tools: [] } })
      send({ method: 'notifications/claude/channel', params: { content: JSON.stringify(told), meta: { chat_id: 'c' } } })
    }
  })`

async function firstPrompt(more: Partial<ClaudeCodeOptions>) {
  const claude = await startClaudeCode({ command: process.execPath, args: ['-e', ECHO], ...more })
  try {
    expect(claude.skipped).toBeNull()
    return await new Promise<{ envelope: string; content: string }>((resolve) => {
      claude.onPrompt = resolve
    })
  } finally {
    claude.kill('SIGKILL')
    await claude.exited
  }
}

it('probes before the handshake, and says in both who it is and what it can', async () => {
  const { content } = await firstPrompt({ channels: ['server:switchboard'] })
  const { probe, opened } = JSON.parse(content) as Record<string, Record<string, unknown>>
  const client = { name: 'claude-code', version: '2.1.325' }
  const capabilities = { roots: {}, elicitation: { form: {}, url: {} } }
  expect(probe).toEqual({
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': client,
    'io.modelcontextprotocol/clientCapabilities': capabilities,
  })
  expect(opened).toEqual({ protocolVersion: '2025-11-25', capabilities, clientInfo: client })
})

it('names the server of a plugin with its scope', async () => {
  const installed = { name: 'x', marketplace: 'm', server: 'y' }
  const { envelope } = await firstPrompt({ plugin: installed, channels: ['plugin:x@m'] })
  expect(envelope).toMatch(/^<channel source="plugin:x:y" chat_id="c">\n/)
})
